"""Synthetic secrets, made from parts so that no scanner takes this file for a leak, and harmless ones that look alike.

None was ever issued. A character's place in the alphabet follows from a hash of the name of the sample.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Callable

DIGITS, HEX = string.digits, "0123456789abcdef"
LOWER, UPPER = string.ascii_lowercase + DIGITS, string.ascii_uppercase + DIGITS
WORD, BASE64 = string.ascii_letters + DIGITS, string.ascii_letters + DIGITS + "+/"
URL64 = string.ascii_letters + DIGITS + "-_"


def letters(seed: str, alphabet: str, count: int) -> str:
    """``count`` letters that follow from ``seed``."""
    stream = hashlib.shake_256(seed.encode()).digest(2 * count)
    pairs = (int.from_bytes(stream[at : at + 2]) for at in range(0, 2 * count, 2))
    return "".join(alphabet[pair % len(alphabet)] for pair in pairs)


def _uuid(seed: str) -> str:
    return "-".join(letters(f"{seed}{size}", HEX, size) for size in (8, 4, 4, 4, 12))


def _pem(kind: str, lines: int = 14) -> str:
    body = "\n".join(letters(f"{kind}{line}", BASE64, 64) for line in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


NAMES = [
    "service-account.json",
    "service-account-prod.json",
    "my-service-account.yaml",
    "proj-0123456789ab.json",
    "gcp-key.json",
    "firebase-adminsdk-x1.json",
    "application_default_credentials.json",
    "credentials",
    "credentials.json",
    "credentials.csv",
    "aws_credentials",
    "kubeconfig",
    "kubeconfig.yaml",
    "prod.kubeconfig",
    ".kube/config",
    ".docker/config.json",
    ".dockercfg",
    ".npmrc",
    ".pypirc",
    ".netrc",
    "_netrc",
    "pip.conf",
    "pip.ini",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    "htpasswd",
    ".htpasswd",
    ".s3cfg",
    ".boto",
    "rclone.conf",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "prod.tfvars",
    "prod.auto.tfvars.json",
    ".terraformrc",
    "terraform.rc",
    "credentials.tfrc.json",
    "vault.kdbx",
    "cert.p12",
    "cert.pfx",
    "app.jks",
    "release.keystore",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "deploy_rsa",
    "server.pem",
    "private.key",
    "AuthKey.p8",
    "key.ppk",
    "secrets.yaml",
    "secrets.yml",
    "secrets.json",
    "secrets.toml",
    "secrets.ini",
    "secrets.env",
    "secrets.xml",
    "secrets.prod.yaml",
    "secrets.enc.yaml",
    "db-secrets.yml",
    "secret.json",
    "client_secret.json",
    "client_secrets.json",
    "passwords.txt",
    "passwords.csv",
    "password.txt",
    ".env",
    ".env.production",
    "prod.env",
    ".envrc",
    "office.ovpn",
    ".vault-token",
    "vault_pass",
    ".vault_pass.txt",
    "token.txt",
    "access_token",
    "api_token.txt",
    "github_token",
    "auth_token.json",
    ".aws/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    "gh/hosts.yml",
    ".azure/accessTokens.json",
    ".config/gcloud/legacy_credentials",
    ".m2/settings.xml",
    ".composer/auth.json",
    ".ssh/deploy.txt",
    "filezilla.xml",
    "sftp-config.json",
    "otr.private_key",
    "ssh_host_rsa_key",
    "wp-config.php",
    ".bash_history",
    "shadow",
    "key.age",
    "master.key",
]

_TOKENS: dict[str, Callable[[str], str]] = {
    "AWS access key": lambda s: "AKIA" + letters(s, UPPER, 16),
    "AWS temporary key": lambda s: "ASIA" + letters(s, UPPER, 16),
    "GitHub, classic": lambda s: "ghp" + "_" + letters(s, string.ascii_letters, 36),
    "GitHub, OAuth": lambda s: "gho" + "_" + letters(s, WORD, 36),
    "GitHub, app": lambda s: "ghs" + "_" + letters(s, WORD, 36),
    "GitHub, fine-grained": lambda s: (
        "github_pat" + "_" + letters(s, WORD, 22) + "_" + letters(s + "2", WORD, 59)
    ),
    "GitLab": lambda s: "glpat" + "-" + letters(s, URL64, 20),
    "GitLab, runner": lambda s: "glrt" + "-" + letters(s, URL64, 20),
    "Slack, bot": lambda s: (
        "xoxb"
        "-"
        + letters(s, DIGITS, 12)
        + "-"
        + letters(s + "2", DIGITS, 12)
        + "-"
        + letters(s + "3", WORD, 24)
    ),
    "Slack, user": lambda s: (
        "xoxp"
        "-"
        + letters(s, DIGITS, 12)
        + "-"
        + letters(s + "2", DIGITS, 12)
        + "-"
        + letters(s + "3", HEX, 32)
    ),
    "Slack, app": lambda s: (
        "xapp"
        "-1-A"
        + letters(s, UPPER, 10)
        + "-"
        + letters(s + "2", DIGITS, 13)
        + "-"
        + letters(s + "3", HEX, 64)
    ),
    "Stripe": lambda s: "sk" + "_live_" + letters(s, WORD, 24),
    "Stripe, restricted": lambda s: "rk" + "_live_" + letters(s, WORD, 40),
    "Google API": lambda s: "AI" + "za" + letters(s, URL64, 35),
    "Google OAuth": lambda s: "ya29" + "." + letters(s, URL64, 120),
    "OpenAI": lambda s: "sk" + "-" + letters(s, WORD, 48),
    "OpenAI, project": lambda s: "sk" + "-proj-" + letters(s, URL64, 120),
    "Anthropic": lambda s: "sk" + "-ant-api03-" + letters(s, URL64, 93) + "AA",
    "npm": lambda s: "npm" + "_" + letters(s, WORD, 36),
    "PyPI": lambda s: "pypi" + "-AgEIcHlwaS5vcmc" + letters(s, URL64, 130),
    "Hugging Face": lambda s: "hf" + "_" + letters(s, string.ascii_letters, 34),
    "SendGrid": lambda s: "SG" + "." + letters(s, URL64, 22) + "." + letters(s + "2", URL64, 43),
    "Twilio": lambda s: "SK" + letters(s, HEX, 32),
    "DigitalOcean": lambda s: "dop" + "_v1_" + letters(s, HEX, 64),
    "Databricks": lambda s: "dapi" + letters(s, HEX, 32),
    "HashiCorp Vault": lambda s: "hvs" + "." + letters(s, URL64, 90),
    "Terraform Cloud": lambda s: letters(s, WORD, 14) + ".atlasv1." + letters(s + "2", URL64, 67),
    "Grafana": lambda s: "glsa" + "_" + letters(s, WORD, 32) + "_" + letters(s + "2", HEX, 8),
    "New Relic": lambda s: "NRAK" + "-" + letters(s, UPPER, 27),
    "Linear": lambda s: "lin_api" + "_" + letters(s, WORD, 40),
    "Notion": lambda s: "ntn" + "_" + letters(s, DIGITS, 11) + letters(s + "2", WORD, 35),
    "Figma": lambda s: "figd" + "_" + letters(s, URL64, 40),
    "Atlassian": lambda s: "ATATT3" + letters(s, URL64, 186),
    "Postman": lambda s: "PMAK" + "-" + letters(s, HEX, 24) + "-" + letters(s + "2", HEX, 34),
    "Shopify": lambda s: "shpat" + "_" + letters(s, HEX, 32),
    "Square": lambda s: "sq0atp" + "-" + letters(s, URL64, 22),
    "PlanetScale": lambda s: "pscale_tkn" + "_" + letters(s, URL64, 43),
    "RubyGems": lambda s: "rubygems" + "_" + letters(s, HEX, 48),
    "Docker Hub": lambda s: "dckr_pat" + "_" + letters(s, URL64, 27),
    "Doppler": lambda s: "dp.pt" + "." + letters(s, WORD, 43),
    "Sentry": lambda s: "sntryu" + "_" + letters(s, HEX, 64),
    "Pulumi": lambda s: "pul" + "-" + letters(s, HEX, 40),
    "Telegram": lambda s: letters(s, "123456789", 10) + ":AA" + letters(s + "2", URL64, 33),
    "Mailgun": lambda s: "key" + "-" + letters(s, HEX, 32),
    "Mailchimp": lambda s: letters(s, HEX, 32) + "-us21",
    "age": lambda s: "AGE-SECRET-" + "KEY-1" + letters(s, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "Supabase": lambda s: "sbp" + "_" + letters(s, HEX, 40),
    "Groq": lambda s: "gsk" + "_" + letters(s, WORD, 52),
    "xAI": lambda s: "xai" + "-" + letters(s, WORD, 80),
    "JSON web token": lambda s: (
        "ey"
        "J"
        + letters(s, WORD, 33)
        + ".ey"
        + "J"
        + letters(s + "2", WORD, 80)
        + "."
        + letters(s + "3", URL64, 43)
    ),
}
_NAMED: dict[str, tuple[str, Callable[[str], str]]] = {
    "AWS secret key": ("aws_secret_access_key = {}", lambda s: letters(s, BASE64, 40)),
    "AWS secret key, prose": ("The secret access key is {}", lambda s: letters(s, BASE64, 40)),
    "Azure storage": (
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net",
        lambda s: letters(s, BASE64, 86) + "==",
    ),
    "Azure service bus": (
        "Endpoint=sb://x.net/;SharedAccessKey={}",
        lambda s: letters(s, BASE64, 43) + "=",
    ),
    "Slack webhook": (
        "POST to https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/{}",
        lambda s: letters(s, WORD, 24),
    ),
    "Discord webhook": (
        "https://discord.com/api/webhooks/123456789012345678/{}",
        lambda s: letters(s, URL64, 68),
    ),
    "password of PostgreSQL": (
        "postgresql://shop:{}@db.internal:5432/shop",
        lambda s: letters(s, WORD, 12),
    ),
    "password of MongoDB": (
        "mongodb+srv://admin:{}@c0.mongodb.net/x",
        lambda s: letters(s, WORD, 10),
    ),
    "password of Redis": ("redis://:{}@cache:6379/0", lambda s: letters(s, WORD, 9)),
    "password of AMQP": ("amqps://worker:{}@mq.internal//", lambda s: letters(s, WORD, 14)),
    "token of a clone": (
        "git clone https://oauth2:{}@git.internal/a.git",
        lambda s: letters(s, WORD, 20),
    ),
    "token in a URL": (
        "https://api.internal/v1?access_token={}&page=2",
        lambda s: letters(s, HEX, 32),
    ),
    "bearer": (
        'curl -H "Authorization: Bearer {}" https://api.internal',
        lambda s: letters(s, WORD, 40),
    ),
    "basic": ("Authorization: Basic {}", lambda s: letters(s, WORD, 24) + "=="),
    "curl": ("curl -u admin:{} https://api.internal", lambda s: "x7" + letters(s, WORD, 14)),
    "generic, quoted": ('api_key = "{}"', lambda s: letters(s, WORD, 32)),
    "generic, YAML": ("client_secret: {}", lambda s: letters(s, LOWER, 40)),
    "generic, shell": ("export DEPLOY_TOKEN={}", lambda s: letters(s, WORD, 36)),
    "generic, JSON": ('{{"apiKey": "{}", "region": "eu"}}', lambda s: letters(s, HEX, 32)),
    "generic, table": ("| API key | {} |", lambda s: letters(s, WORD, 30)),
    "password, YAML": ("  password: {}", lambda s: "Tr0ub4dor&" + letters(s, WORD, 4)),
    "password, .NET": (
        "Server=db;User Id=sa;Password={};Encrypt=True",
        lambda s: "P@ss" + letters(s, WORD, 8) + "9",
    ),
    "Datadog": ("DD_API_KEY={}", lambda s: letters(s, HEX, 32)),
    "Heroku": ("HEROKU_API_KEY={}", _uuid),
    "Cloudflare": ("cloudflare_api_token: {}", lambda s: letters(s, URL64, 40)),
    "npmrc": ("//registry.npmjs.org/:_auth={}", lambda s: letters(s, WORD, 32) + "=="),
    "docker config": (
        '{{"auths": {{"r.io": {{"auth": "{}"}}}}}}',
        lambda s: "d2" + letters(s, WORD, 26),
    ),
    "kubeconfig": ("    client-key-data: {}", lambda s: letters(s, BASE64, 400)),
    "password's hash": ("admin:{}", lambda s: "$2y$10$" + letters(s, WORD, 53)),
}
_PROSE = "# How to deploy\n\nThe gateway restarts after each release, and the on-call engineer watches its log.\n\n"
_MORE = "\n\nAfterwards the dashboard shows the new version, and the old one is removed.\n"


def _contents() -> dict[str, tuple[str, str]]:
    """Documents by name, each with the value that must not be shown."""
    made: dict[str, tuple[str, str]] = {}
    for name, token in _TOKENS.items():
        made[name] = (f"{_PROSE}Use `{token(name)}` for it.{_MORE}", token(name))
    for name, (line, token) in _NAMED.items():
        made[name] = (f"{_PROSE * 8}{line.format(token(name))}{_MORE}", token(name))
    for kind in (
        "RSA PRIVATE KEY",
        "PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "EC PRIVATE KEY",
    ):
        made[kind] = (_PROSE * 8 + _pem(kind, 4) + _MORE, letters(f"{kind}2", BASE64, 64))
    block = "PGP PRIVATE KEY BLOCK"
    pgp = _pem(block, 4).replace("-----\n", "-----\nVersion: GnuPG v2\n\n", 1)
    made[block] = (_PROSE * 8 + pgp + _MORE, letters(f"{block}2", BASE64, 64))
    escaped = _pem("PRIVATE KEY", 4).replace("\n", "\\n")
    made["service account"] = (
        _PROSE * 8 + f'{{"type": "service_account", "private_key": "{escaped}\\n"}}' + _MORE,
        letters("PRIVATE KEY2", BASE64, 64),
    )
    indented = "\n".join("      " + line for line in _pem("EC PRIVATE KEY", 4).splitlines())
    made["indented key"] = (
        _PROSE * 8 + "data:\n  tls.key: |\n" + indented + _MORE,
        letters("EC PRIVATE KEY2", BASE64, 64),
    )
    lines = "\n".join(letters(f"putty{line}", BASE64, 64) for line in range(4))
    putty = f"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 4\n{lines}\nPrivate-MAC: 00\n"
    made["PuTTY"] = (_PROSE * 8 + putty + _MORE, letters("putty2", BASE64, 64))
    return made


CONTENTS = _contents()
KEY_FILE = _pem("RSA PRIVATE KEY")

HARMLESS = {
    "prose": "Never share your password: choose a long one. The token is checked, and a secret is kept in the vault.",
    "question": "How do I reset the password? Ask for a new API key.",
    "placeholder": "export API_KEY=YOUR_API_KEY_GOES_HERE_12345",
    "AWS example": "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE",
    "AWS secret example": "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "dots": "OPENAI_API_KEY=sk-...",
    "angles": 'token = "<your token here>"',
    "crosses": "Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxx",
    "crossed GitHub": "ghp_" + "x" * 36,
    "stars": "password: ****************",
    "variable": "password: ${DB_PASSWORD_V2}",
    "GitHub Actions": "token: ${{ secrets.DEPLOY_TOKEN_2 }}",
    "template": "password: {{ .Values.auth.password2 }}",
    "commit": "Fixed in commit 3f786850e387550fdab836ed7e6dc881de23001b.",
    "sha256": "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "digest": "image: nginx@sha256:2bcabc23b45489fb0885d69a06ba1d648aeda973fae7bb981bafbb884165e514",
    "integrity": '"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="',
    "md5": "md5sum 5d41402abc4b2a76b9719d911017c592  hello.txt",
    "uuid": "request_id: 123e4567-e89b-42d3-a456-426614174000",
    "trace": "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "certificate": "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n-----END CERTIFICATE-----",
    "public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
    "header of a key": "A file that begins with -----BEGIN PRIVATE KEY----- is a key, and openssl reads it.",
    "elided key": "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "code": "token = self.next_token(stream2, index1)",
    "type": "pub struct Token { kind: TokenKind2, secret: Option<SecretString64> }",
    "attribute": "let secret = config.credentials.secret_key_v2;",
    "environment": 'password = os.environ["DB_PASSWORD_1"]',
    "URL without password": "Connect to postgresql://localhost:5432/shop or https://user@host/path",
    "URL of an example": "postgresql://user:password@localhost:5432/shop",
    "mail": "Write to security@example.com; see https://example.com/a:b and me@example.org.",
    "port": "http://proxy.internal:8080/path/a@b",
    "token count": "max_tokens: 4096, token_limit=128000, tokens_per_minute: 90000",
    "public token": "PublicKeyToken=adb9793829ddae60",
    "tokenizer": "tokenizer: bert-base-uncased-v2-30522x768-rev4a7b9c1d2",
    "version": "version = 2024.10.03.r1a2b3c4d5e6f7",
    "date": "expires: 2026-08-14T06:12:23.7750388Z",
    "base64 image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "kebab": "See sk-learn-contrib-extensions-for-everyone and key-concepts-of-event-sourcing-in-practice.",
    "path": "secret: /var/run/secrets/kubernetes.io/serviceaccount2/token1",
    "arn": "secretArn: arn:aws:secretsmanager:eu-central-1:123456789012:secret:shop-AbCdEf1",
    "hex colours": "palette: #1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b",
    "identifier": "xoxb_is_the_prefix_of_bot_tokens and glpat is that of GitLab",
    "semantic": "sort_key=2024a10b03c11d22e33f44, primary_key: 9a8b7c6d5e4f3a2b1c0d",
}
HARMLESS_NAMES = [
    "secrets.md",
    "secret-management.md",
    "secrets.py",
    "credentials.md",
    "passwords.rst",
    "token.py",
    "tokens.md",
    "tokenizer.json",
    "config.yaml",
    "settings.toml",
    "environment.md",
    "environment.yml",
    "keyboard.txt",
    "turkey.csv",
    "design-tokens.json",
    "package.json",
    "api-keys.md",
    "docs/ssh.md",
    "docker/config.md",
    "kube/config.md",
    "history.md",
    "README",
    "Makefile",
    "pipeline.conf",
    "license.txt",
    "keys.go",
    "auth.ts",
    "passwordless.html",
    "vault.md",
]
