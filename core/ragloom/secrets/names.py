"""Names under which keys, tokens and passwords are kept.

The measure are the lists that scanners look for: gitrob's and shhgit's signatures of files (both MIT:
https://github.com/michenriksen/gitrob/blob/master/filesignatures.json,
https://github.com/eth0izzle/shhgit/blob/master/config.yaml), of which those are here that hold credentials and
nothing else, and the places where the tools below write what ``login`` gave them. Pages about secrets,
such as ``secrets.md``, and source code are not secrets; what they hold is told by content.
"""

from __future__ import annotations

import re
from functools import cache

_KEYS = r"""
    (.*[-_.])? id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?(\..*)? | .+_(rsa|dsa|ecdsa|ed25519)
    | .*\.(pem|key|keypair|p8|p12|pfx|pkcs12|jks|jceks|bks|keystore|keyring|keytab|kdbx?|psafe3|ppk|gpg|pgp|asc|age
        |agilekeychain|opvault|1pif|1pux|keychain(-db)?|kwallet|ovpn|tblk|snk|bek|jwk|jwks)
    | otr\.private_key | (ssh_host_.*_key | .*[-_.]private[-_]?key | private[-_]key(s)?)(\.(txt|json|ya?ml|der))?
    | (wallet|keystore)\.(dat|json|ya?ml) | (master|api)[-_]?keys?\.(json|ya?ml|toml|ini|cfg|conf|txt|env)
    | UTC--.*--[0-9a-f]{40} | (age|sops)[-_]?keys?\.txt
"""
_SETTINGS = r"""
    \.env([-_.].*)? | .+\.env | env\.(local|prod(uction)?|staging|dev(elopment)?) | \.envrc
    | [._]?netrc([-_.].*)? | \.?authinfo(\..*)? | \.pgpass | pgpass\.conf | \.my\.cnf | \.mylogin\.cnf | \.npmrc | \.yarnrc
    | \.pypirc | pip\.(conf|ini) | \.?htpasswd | \.?htdigest | \.git-credentials | \.dockercfg | dockerconfigjson
    | \.dockerconfigjson | \.s3cfg | \.boto | \.passwd-s3fs | \.?rclone\.conf | \.remote-sync\.json | \.?esmtprc | \.msmtprc | \.fetchmailrc
    | \.?(terraformrc|terraform\.rc) | credentials\.tfrc\.json | .*\.tfstate(\..*)? | .*\.tfvars(\.json)?
    | \.?vault[-_]?token | (.*[-_.])?vault[-_]pass(word)?(\..*)? | vault[-_.](init|keys|unseal).*\.(json|txt|ya?ml)
    | (.*[-_.])?kubeconfig([-_.].*)? | .*\.kubeconfig | \.tugboat | \.trc | \.?muttrc
    | \.?(dbeaver-)?data-sources\.xml | credentials-config\.json | filezilla\.xml | recentservers\.xml | sitemanager\.xml
    | sftp-config(-alt)?\.json | \.ftpconfig | \.?sftp\.json | proftpdpasswd | \.?robomongo\.json
    | jenkins\.plugins\.publish_over_ssh\.BapSshPublisherPlugin\.xml | hudson\.util\.Secret | secret_token\.rb
    | (etc_)?shadow | (bash|zsh|sh|psql|mysql|irb|python|node_repl|rediscli)_history | \.(bash|zsh|sh|z|psql|mysql|irb|python|rediscli)_?history
    | azureprofile\.json | accesstokens\.json | msal_token_cache\.(json|bin) | adc\.json | legacy_credentials
    | \.databrickscfg
    | wp-config(-.*)?\.php | localsettings\.php
"""
_WORDS = r"""
    (.*[-_.])?(credentials?|secrets?|passwords?|passwd|creds)
        (([-_.](local|dev|development|test|stag(e|ing)|prod(uction)?|enc|dec|bak|backup|old|live|\d+))*)
        \.(json5?|jsonc|ya?ml|toml|ini|cfg|conf|config|csv|tsv|properties|xml|env|plist|db|sqlite3?|dat|bin|enc|bak|backup|old|gz|zip|xlsx?|ods
            |kdb|yml\.enc|ya?ml\.enc|json\.enc|tf|hcl|auto)
    | (aws|gcp|gcloud|azure|google|db|database|git|docker|root|admin|user|my|all|smtp|api|prod|service)?[-_.]?
        (credentials?|passwords?|passwd|secrets?|creds|tokens?)(\.txt)?
    | (client|app|oauth|api|auth|access|bot|github|gitlab|slack|npm|pypi|vault|refresh|deploy)[-_.]?(secrets?|tokens?)
        (\.(txt|json|ya?ml|toml|ini))?
    | client_secrets?_.*\.json | (.*[-_])?service[-_]?account([-_.].*)?\.(json|ya?ml|p12) | .*firebase[-_]adminsdk.*\.json
    | (gcp|gcloud|google|ga)[-_]?(sa[-_])?(key|auth|creds)[-_\w]*\.json | .+-[0-9a-f]{12}\.json
    | token\.(pickle|json) | (.*[-_.])?(sealed|encrypted)[-_.]secrets?\.(ya?ml|json)
"""
_BELOW = r"""
    \.?aws/(credentials|config) | \.?docker/config\.json | \.?kube/config | \.ssh/.* | \.?gem/credentials
    | \.?cargo/credentials(\.toml)? | \.?m2/settings(-security)?\.xml | \.?composer/auth\.json | \.?config/hub | gh/hosts\.yml
    | \.?glab(-cli)?/config\.yml | doctl/config\.yaml | \.?azure/.*\.json | \.?config/gcloud/.* | \.?gnupg/.* | \.?purple/accounts\.xml
    | \.?recon-ng/keys\.db | \.?chef/.*\.pem | heroku/credentials\.json | netlify/config\.json | \.?fly/config\.yml | \.?config/stripe/config\.toml
    | stripe/config\.toml | \.?kaggle/kaggle\.json | (\.?huggingface|\.?cache/huggingface|huggingface)/token | \.?oci/config | \.?pulumi/credentials\.json
    | etc/(shadow|gshadow)(-)? | (run|docker)/secrets/.* | config/(master|credentials/.*)\.key | rclone/rclone\.conf | sops/age/keys\.txt
    | \.?minio/config\.json | \.?mc/config\.json | \.?bluemix/config\.json | \.?circleci/cli\.yml | \.?cf/config\.json | \.?op/config
"""

_PAGES = frozenset(
    [
        ".adoc",
        ".c",
        ".cpp",
        ".cs",
        ".css",
        ".go",
        ".h",
        ".htm",
        ".html",
        ".ipynb",
        ".java",
        ".js",
        ".jsx",
        ".kt",
        ".lua",
        ".markdown",
        ".md",
        ".mdx",
        ".org",
        ".pdf",
        ".py",
        ".pyi",
        ".rs",
        ".rst",
        ".scala",
        ".scss",
        ".sql",
        ".svelte",
        ".swift",
        ".tex",
        ".text",
        ".ts",
        ".tsx",
        ".vue",
    ]
)
"""Endings of pages and source code, which are told by their content alone."""
_LIKE_A_KEY = re.compile(r"(?i)\.env|id_")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """For a file's name, and for the name with that of its folder."""
    named = "|".join((_KEYS, _SETTINGS, _WORDS))
    return re.compile(rf"(?ix)^({named})$"), re.compile(rf"(?ix)(?:^|/)({_BELOW})$")


def is_secret(path: str) -> bool:
    """Whether a file of this path is taken for a secret by its name, and so never read."""
    path = path.replace("\\", "/")
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    if dot > 0 and name[dot:].lower() in _PAGES and not _LIKE_A_KEY.match(name):
        return False
    named, below = _patterns()
    return bool(named.match(name) or below.search(path))
