"""Shapes of tokens and keys, as their issuers document them.

The measure is the list of gitleaks (MIT, https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml) and that of
GitHub's secret scanning
(https://docs.github.com/code-security/secret-scanning/introduction/supported-secret-scanning-patterns). A scanner
as a library would not do: detect-secrets 1.5.0 reads 0.1 MB of Markdown a second, a fortieth of what loading
and splitting do, gitleaks and trufflehog are programs in Go, and none keeps the offsets that redaction needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_HEX = "[0-9a-fA-F]"
_UUID = f"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}"
_ASSIGNED = r"""[\w.-]{0,30}["'`]?[ \t]{0,4}(?::=|=>|=|:|,|[ \t])[ \t]{0,4}["'`]?"""
"""What stands between the name of a service and its token, where the token's own shape says too little."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Tokens of one kind.

    Attributes:
        what: As a warning names one.
        starts: A text without any of these holds none.
        pattern: A regular expression; the group ``secret``, or else all of it, is the secret.
        bare: It may stand inside a word.
        near: The name before it, a word of its own, belongs to the shape: what :attr:`starts` are found in is
            the text before a word that may be a secret, in lower case.
    """

    what: str
    starts: tuple[str, ...]
    pattern: str
    bare: bool = False
    near: bool = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression; compiled for the first text that may hold one."""
        edge = "" if self.bare or self.near else "(?<![A-Za-z0-9])"
        return re.compile(f"{edge}(?:{self.pattern})", re.IGNORECASE if self.near else re.NOFLAG)


def _prefixed(what: str, prefixes: str, rest: str) -> Shape:
    """Tokens that begin with one of some prefixes."""
    starts = tuple(prefixes.split())
    either = "|".join(re.escape(start) for start in starts)
    return Shape(what=what, starts=starts, pattern=f"(?:{either}){rest}")


def _named(what: str, names: str, rest: str) -> Shape:
    """Tokens that only the name of their service, before them, tells from others."""
    starts = tuple(names.split())
    either = "|".join(re.escape(name) for name in starts)
    pattern = rf"(?:{either}){_ASSIGNED}(?P<secret>{rest})(?![\w/+=-])"
    return Shape(what=what, starts=starts, pattern=pattern, near=True)


_WORD = "[A-Za-z0-9_-]"
SHAPES: tuple[Shape, ...] = (
    _prefixed("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{30,255}"),
    _prefixed("a GitHub token", "github_pat_", "[A-Za-z0-9_]{50,255}"),
    _prefixed(
        "a GitLab token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
        r"[A-Za-z0-9_.-]{18,}",
    ),
    _prefixed("an AWS access key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape(
        what="an AWS secret key",
        starts=("secret",),
        pattern=r"""(?:secret[_ ]?(?:access[_ ]?)?key|aws_secret)["'`]?[\w ]{0,8}["'`]?[ \t]{0,4}(?::=|=>|=|:|,|[ \t]is)[ \t]{0,4}["'`]?"""
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        near=True,
    ),
    _prefixed(
        "an AWS session token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9/+=]{50,}"
    ),
    _prefixed("an Amazon Bedrock key", "ABSKQmVkcm9ja0FQSUtleS", "[A-Za-z0-9+/=]{50,}"),
    _prefixed("an Amazon MWS token", "amzn.mws.", _UUID),
    _prefixed(
        "a Slack token",
        "xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxc- xoxd- xoxe.",
        r"[A-Za-z0-9%.-]{16,}",
    ),
    _prefixed("a Slack token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    Shape(
        what="a webhook",
        starts=("hooks.slack.com/", "hooks.slack-gov.com/"),
        pattern=r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_-]{20,})",
    ),
    Shape(
        what="a webhook",
        starts=("/api/webhooks/",),
        pattern=r"/api/webhooks/\d{15,22}/(?P<secret>[A-Za-z0-9_-]{40,})",
        bare=True,
    ),
    Shape(
        what="a webhook",
        starts=("office.com/webhook",),
        pattern=r"office\.com/webhook\w*/(?P<secret>[A-Za-z0-9@/-]{60,})",
        bare=True,
    ),
    Shape(
        what="a webhook",
        starts=("hooks.zapier.com/",),
        pattern=r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d+/\w{5,})",
    ),
    _prefixed(
        "a Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", "[A-Za-z0-9]{16,}"
    ),
    _prefixed("a webhook's signing secret", "whsec_", "[A-Za-z0-9+/=]{24,}"),
    _prefixed("a Google API key", "AIza", r"[A-Za-z0-9_-]{35}"),
    _prefixed("a Google OAuth token", "ya29. 1//0", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("a Google OAuth secret", "GOCSPX-", "[A-Za-z0-9_-]{20,}"),
    _prefixed("an Anthropic key", "sk-ant-", "[A-Za-z0-9_-]{20,}"),
    _prefixed("an OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", "[A-Za-z0-9_-]{20,}"),
    _prefixed("an API key", "sk-or-v1- sk-lf- sk-kimi- sk-cp-", "[A-Za-z0-9_-]{20,}"),
    _prefixed("an OpenAI key", "sk-", "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}"),
    _prefixed("a Hugging Face token", "hf_ api_org_", "[A-Za-z0-9]{30,}"),
    _prefixed("a Replicate token", "r8_", "[A-Za-z0-9]{30,}"),
    _prefixed(
        "an API key",
        "gsk_ pplx- xai- csk- fw_ tgp_v1_ jina_ tvly- fc- nvapi- voyage- dapi",
        "[A-Za-z0-9_-]{30,}",
    ),
    _prefixed("a LangSmith key", "lsv2_pt_ lsv2_sk_ ls__", "[A-Za-z0-9_]{30,}"),
    _prefixed("an npm token", "npm_", "[A-Za-z0-9]{30,}"),
    _prefixed("a PyPI token", "pypi-", "[A-Za-z0-9_-]{50,}"),
    _prefixed("a RubyGems key", "rubygems_", "[0-9a-f]{40,}"),
    _prefixed("a NuGet key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    _prefixed("a crates.io token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("a Clojars token", "CLOJARS_", "[A-Za-z0-9]{50,}"),
    _prefixed("a SendGrid key", "SG.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _prefixed("a Brevo key", "xkeysib- xsmtpsib-", "[0-9a-f]{60,}-[A-Za-z0-9]{16}"),
    _prefixed("a Twilio key", "SK", f"{_HEX}{{32}}(?![A-Za-z0-9])"),
    _prefixed("a Mailgun key", "key-", "[0-9a-z]{32}(?![A-Za-z0-9])"),
    Shape(
        what="a Mailchimp key",
        starts=("-us",),
        pattern=r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])",
        bare=True,
    ),
    _prefixed("a DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{60,}"),
    _prefixed("a Databricks token", "dapi", f"{_HEX}{{32}}(?:-\\d)?"),
    _prefixed(
        "a Doppler token", "dp.pt. dp.st. dp.ct. dp.scim. dp.audit. dp.sa.", r"[A-Za-z0-9_.-]{40,}"
    ),
    _prefixed("a Dynatrace token", "dt0c01. dt0s16. dt0s01.", r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}"),
    _prefixed("a Grafana token", "glsa_ glc_", "[A-Za-z0-9_+/=]{32,}"),
    _prefixed("a Grafana key", "eyJrIjoi", "[A-Za-z0-9+/=]{40,}"),
    _prefixed("a HashiCorp token", "hvs. hvb. hvr.", "[A-Za-z0-9_-]{20,}"),
    Shape(
        what="a HashiCorp token",
        starts=(".atlasv1.",),
        pattern=r"(?<![A-Za-z0-9])[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{50,}",
        bare=True,
    ),
    Shape(
        what="a HashiCorp token",
        starts=("s.", "b.", "r."),
        pattern=r"[sbr]\.(?=[A-Za-z]*\d)[A-Za-z0-9]{24}(?![A-Za-z0-9.(])",
    ),
    _prefixed("a New Relic key", "NRAK- NRII- NRIQ- NRRA- NRJS- NRSP-", "[A-Za-z0-9_-]{19,}"),
    Shape(
        what="a New Relic key",
        starts=("FFFFNRAL",),
        pattern=r"(?<![A-Za-z0-9])[0-9a-f]{36}FFFFNRAL",
        bare=True,
    ),
    _prefixed("a Sentry token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_]{40,}"),
    _prefixed("a PostHog key", "phx_", "[A-Za-z0-9]{30,}"),
    _prefixed("a Linear key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{32,}"),
    _prefixed("a Notion token", "ntn_", "[A-Za-z0-9]{40,}"),
    _prefixed("a Notion token", "secret_", "[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    _prefixed("a Figma token", "figd_ figo_", "[A-Za-z0-9_-]{36,}"),
    _prefixed("an Atlassian token", "ATATT3 ATCTT3 ATBB ATSTT3", "[A-Za-z0-9_=-]{24,}"),
    _prefixed(
        "an Asana token",
        "0/ 1/ 2/",
        "[0-9a-f]{32}(?![A-Za-z0-9])|[12]/\\d{10,}/\\d{10,}:[0-9a-f]{32}",
    ),
    _prefixed("a Postman key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _prefixed(
        "a Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_ shpit_", f"{_HEX}{{32,}}"
    ),
    _prefixed("a Square token", "sq0atp- sq0csp- sq0idp-", "[A-Za-z0-9_-]{22,}"),
    _prefixed("a Square token", "EAAA", r"[A-Za-z0-9_-]{60}(?![A-Za-z0-9_-])"),
    _prefixed("a Facebook token", "EAAC EAAM EAAG EAAB EAACEdEose0cBA", "[A-Za-z0-9]{80,}"),
    _prefixed(
        "a PayPal token",
        "access_token$production$ access_token$sandbox$",
        r"[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    _prefixed("a Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    _prefixed("an EasyPost key", "EZAK EZTK", "[A-Za-z0-9]{54}"),
    _prefixed("a Duffel token", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{40,}"),
    _prefixed("a Shippo token", "shippo_live_ shippo_test_", f"{_HEX}{{40}}"),
    _prefixed("a Flutterwave key", "FLWSECK- FLWSECK_TEST-", "[0-9a-zA-Z]{12,}(?:-X)?"),
    _prefixed("a Razorpay key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14,}"),
    _prefixed("a Lob key", "live_ test_", "(?:pub_)?(?:[0-9a-f]{35}|[0-9a-f]{31})(?![A-Za-z0-9])"),
    _prefixed("a Pulumi token", "pul-", f"{_HEX}{{40}}"),
    _prefixed("a PlanetScale token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{32,}"),
    _prefixed("a Supabase key", "sbp_ sb_secret_", "[A-Za-z0-9_]{30,}"),
    _prefixed("a Neon key", "napi_", "[a-z0-9]{40,}"),
    _prefixed("a Prefect key", "pnu_ pnb_", "[A-Za-z0-9]{30,}"),
    _prefixed("a Readme key", "rdme_", "[a-z0-9]{60,}"),
    _prefixed("a Buildkite token", "bkua_ bkct_ bkpt_ bkaj_", "[0-9a-fA-Z]{36,}"),
    _prefixed("a CircleCI token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{40,}"),
    _prefixed("a Docker token", "dckr_pat_ dckr_oat_", "[A-Za-z0-9_-]{24,}"),
    _prefixed("a Fly.io token", "fo1_ fm1r_ fm1a_ fm2_", "[A-Za-z0-9+/=_-]{40,}"),
    _prefixed("a Vercel token", "vercel_blob_rw_ vcp_ vci_ vca_", "[A-Za-z0-9_]{24,}"),
    _prefixed("a Netlify token", "nfp_ nfc_ nfu_", "[A-Za-z0-9_]{36,}"),
    _prefixed("a Heroku key", "HRKU-", f"(?:{_UUID}|[A-Za-z0-9_-]{{50,}})"),
    _prefixed("an Octopus Deploy key", "API-", r"[A-Z0-9]{26,}(?![A-Za-z0-9])"),
    _prefixed("an Artifactory key", "AKCp cmVmd", "[A-Za-z0-9]{55,}"),
    _prefixed("a Sourcegraph token", "sgp_ slk_", f"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40,}}"),
    _prefixed("an OpenShift token", "sha256~", "[A-Za-z0-9_-]{40,}"),
    _prefixed("an Adobe secret", "p8e- p8-", "[A-Za-z0-9_-]{32,}"),
    _prefixed("an Alibaba key", "LTAI", "[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    _prefixed("a Tencent key", "AKID", "[A-Za-z0-9]{28,36}(?![A-Za-z0-9])"),
    _prefixed("a Typeform token", "tfp_", r"[\w.=-]{40,}"),
    _prefixed("a Frame.io token", "fio-u-", "[A-Za-z0-9_=-]{60,}"),
    _prefixed("a Contentful token", "CFPAT-", "[A-Za-z0-9_-]{40,}"),
    _prefixed("an Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _prefixed("a Mapbox token", "sk.eyJ", r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    _prefixed("a 1Password key", "A3-", "(?:[A-Z0-9]{5,11}-){4,6}[A-Z0-9]{5}"),
    _prefixed("a 1Password token", "ops_eyJ", "[A-Za-z0-9+/=_-]{100,}"),
    _prefixed("an age key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", "[A-Z0-9]{40,}"),
    _prefixed("an Infracost key", "ico-", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _prefixed("a Yandex token", "t1.", r"[A-Za-z0-9_=-]{16,}\.[A-Za-z0-9_=-]{80,}"),
    _prefixed("a Resend key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"),
    _prefixed("an Intra42 secret", "s-s4t2ud- s-s4t2af-", "[0-9a-f]{64}"),
    _prefixed("a Scalingo token", "tk-us-", "[A-Za-z0-9_-]{48}"),
    _prefixed("a Settlemint token", "sm_aat_ sm_pat_ sm_sat_", "[A-Za-z0-9]{16}"),
    _prefixed("a ClickHouse key", "4b1d", "[A-Za-z0-9]{38}(?![A-Za-z0-9])"),
    _prefixed("a Defined Networking key", "dnkey-", "[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
    _prefixed("a Cloudflare key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"),
    Shape(
        what="a MaxMind key",
        starts=("_mmk",),
        pattern=r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",
        bare=True,
    ),
    Shape(
        what="a Telegram bot's token",
        starts=(":A",),
        pattern=r"(?<!\d)\d{7,12}:A[A-Za-z0-9_-]{33,35}(?![A-Za-z0-9_-])",
        bare=True,
    ),
    Shape(
        what="a Discord token",
        starts=(".G", ".X", ".Y", ".Z"),
        pattern=r"(?<![A-Za-z0-9])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_.-])",
        bare=True,
    ),
    Shape(
        what="an Azure AD secret",
        starts=("Q~",),
        pattern=r"(?<![A-Za-z0-9])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
        bare=True,
    ),
    Shape(
        what="an Azure key",
        starts=("ccountKey=", "ccessKey=", "ccountkey=", "ccesskey="),
        pattern=r"(?:[Aa]ccount[Kk]ey|[Ss]hared[Aa]ccess[Kk]ey)=(?P<secret>[A-Za-z0-9+/]{30,}={0,2})",
        bare=True,
    ),
    Shape(
        what="a signed URL",
        starts=("sig=", "Signature="),
        pattern=r"[?&;](?:sig|X-Amz-Signature|X-Goog-Signature|Signature)=(?P<secret>[A-Za-z0-9%+/=_-]{30,})",
        bare=True,
    ),
    Shape(
        what="a JSON web token",
        starts=("eyJ",),
        pattern=r"(?<![_-])eyJ[A-Za-z0-9_-]{8,4000}={0,2}\.eyJ[A-Za-z0-9_-]{8,8000}={0,2}\.[A-Za-z0-9_-]{8,}",
    ),
    Shape(
        what="a JSON web token",
        starts=("ZXlKaGJHY2lPaU", "ZXlKMGVYQWlPaU", "ZXlKcmFXUWlPaU"),
        pattern=r"ZXlK[A-Za-z0-9+/_=-]{60,}",
    ),
    Shape(
        what="a password or token",
        starts=("authorization",),
        pattern=r"""authorization["']?\s{0,3}[:=,]\s{0,3}["']?(?:basic|bearer|token|apikey|negotiate)\s{1,3}"""
        r"(?P<secret>[A-Za-z0-9+/=_.~-]{12,})",
        near=True,
    ),
    Shape(
        what="a password",
        starts=("-u", "--user"),
        pattern=r"""(?<=\s)(?:-u|--user)[ =]{0,2}["']?[\w.@-]{1,40}:(?P<secret>(?=[^\s"']{0,60}?\d)[^\s"'$<>{}]{8,})""",
        near=True,
    ),
    Shape(
        what="a password",
        starts=("password",),
        pattern=r"""password["']\s{1,3}value=["'](?P<secret>[^"'<>%$]{8,})["']""",
        near=True,
    ),
    Shape(
        what="a registry's password",
        starts=("auth", "_password"),
        pattern=r"""(?:"auth"\s{0,3}:\s{0,3}"|_(?:auth|password|authToken)=["']?)"""
        r"""(?P<secret>(?=[^\s"']{0,60}?\d)[A-Za-z0-9+/_-]{10,}={0,2})(?!\()""",
        near=True,
    ),
    Shape(
        what="a Kubernetes credential",
        starts=("client-key-data",),
        pattern=r"client-key-data:\s{0,3}(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
        near=True,
    ),
    Shape(
        what="a password's hash",
        starts=("$",),
        pattern=r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|(?:apr1|1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
        r"|[56]\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|y\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{43}"
        r"|argon2id?\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+)",
        bare=True,
    ),
    _named("a Cloudflare token", "cloudflare", r"[A-Za-z0-9_-]{40}|[0-9a-f]{37}"),
    _named("a Heroku key", "heroku", _UUID),
    _named("a Snyk token", "snyk", _UUID),
    _named("a Datadog key", "datadog dd_api dd_app dd-api", r"[0-9a-f]{40}|[0-9a-f]{32}"),
    _named("an Okta token", "okta", r"00[A-Za-z0-9_-]{40}"),
    _named(
        "a Dropbox token",
        "dropbox",
        r"sl\.[A-Za-z0-9_=-]{100,}|[a-z0-9]{11}A{8,}[A-Za-z0-9_=-]{40,}",
    ),
    _named("an Algolia key", "algolia", r"[0-9a-f]{32}"),
    _named("a Fastly token", "fastly", r"[A-Za-z0-9_-]{32}"),
    _named("a Codecov token", "codecov", r"[0-9a-f]{32}|" + _UUID),
    _named("an Etsy token", "etsy", r"[a-z0-9]{24}"),
    _named("a Sonar token", "sonar sqp_ squ_ sqa_", r"(?:sq[pua]_)?[0-9a-f]{40}"),
    _named("a PagerDuty token", "pagerduty", r"[A-Za-z0-9_+-]{20}"),
    _named("a Discord secret", "discord", r"[A-Za-z0-9_-]{32}"),
)
