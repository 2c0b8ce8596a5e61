package secretscan

import (
	"regexp"
	"sync"
)

// format is how the credentials of a service look.
type format struct {
	kind    string
	pattern *regexp.Regexp
}

// formats returns the known ones, compiled when the first value is examined.
var formats = sync.OnceValue(func() []format {
	list := make([]format, 0, len(documented))
	for _, d := range documented {
		list = append(list, format{d.kind, regexp.MustCompile(`(?:^|[^0-9A-Za-z_])(?:` + d.pattern + `)`)})
	}
	return list
})

// publishable matches keys that are made to be part of an app or a page.
var publishable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:pk_|pk\.eyJ|csp_|AIza|phc_|sb_publishable_|FLWPUBK|rzp_|sq0idp-|pubkey-|public-|production_[0-9a-z]{8}_|sandbox_[0-9a-z]{8}_|NRJS-|pub[0-9a-f]{32}$)`)
})

// documented lists the formats in the words of an error message. Each pattern begins
// where a word begins.
var documented = []struct{ kind, pattern string }{
	{"a private key", `-----BEGIN [A-Z ]*PRIVATE KEY|PuTTY-User-Key-File|AGE-SECRET-KEY-1[0-9A-Z]{20}`},
	{"a service account", `"private_key(?:_id)?"\s*:`},
	{"a signed token (JWT)", `eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}`},
	{"an address with a password", `[A-Za-z][0-9A-Za-z+.-]*://[^\s/:@?#]*:[^\s/@?#]+@[^\s/]`},
	{"a secret key of Countersign", `(?:csk|cas)_[0-9A-Za-z]{43}`},

	{"a Stripe secret key", `(?:sk|rk)_(?:live|test|prod)_[0-9A-Za-z]{10}`},
	{"a Stripe webhook secret", `whsec_[0-9A-Za-z+/]{24}`},
	{"a Square access token", `EAAA[0-9A-Za-z_-]{40}|sq0(?:atp|csp)-[0-9A-Za-z_-]{22}`},
	{"a PayPal or Braintree access token", `access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`},
	{"a Flutterwave secret key", `FLWSECK(?:_TEST)?-[0-9A-Za-z]{12}`},
	{"a Mollie API key", `(?:live|test)_[0-9A-Za-z]{30}`},
	{"a Paddle API key", `pdl_(?:live|sdbx)_apikey_[0-9a-z]{20}`},
	{"a Plaid access token", `access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}`},
	{"a Shopify access token", `shp(?:at|ca|pa|ss|tka)_[0-9A-Fa-f]{32}`},
	{"an Adyen API key", `AQE[0-9A-Za-z]{6}[0-9A-Za-z+/=._-]{40}`},
	{"an EasyPost or Shippo key", `EZ[AT]K[0-9a-z]{54}|shippo_(?:live|test)_[0-9a-f]{40}`},

	{"an AWS access key", `(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}`},
	{"a Google OAuth client secret", `GOCSPX-[0-9A-Za-z_-]{20}`},
	{"a Google access or refresh token", `ya29\.[0-9A-Za-z_-]{20}|1//0[0-9A-Za-z_-]{30}`},
	{"a Firebase server key", `AAAA[0-9A-Za-z_-]{7}:APA91b[0-9A-Za-z_-]{40}`},
	{"an Azure secret", `[0-9A-Za-z_.~-]{3}[0-9]Q~[0-9A-Za-z_.~-]{31}|(?i:AccountKey|SharedAccessKey)=[0-9A-Za-z+/]{40}`},
	{"a DigitalOcean token", `do[opr]_v1_[0-9a-f]{64}`},
	{"a Heroku API key", `HRKU-[0-9A-Za-z_-]{30}`},
	{"a Cloudflare key", `v1\.0-[0-9a-f]{24}-[0-9a-f]{40}`},
	{"a Fly.io token", `fo1_[0-9A-Za-z_-]{40}|fm[12][ar]?_[0-9A-Za-z+/=_-]{40}`},
	{"a Netlify token", `nfp_[0-9A-Za-z]{36}`},
	{"a Supabase secret key", `sb_secret_[0-9A-Za-z_-]{20}|sbp_[0-9a-f]{40}`},
	{"a PlanetScale credential", `pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_.=-]{32}`},
	{"a Databricks token", `dapi[0-9a-f]{32}`},
	{"a Doppler token", `dp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z.]{40}`},
	{"a Vault token", `hv[sbr]\.[0-9A-Za-z_-]{24}`},
	{"a Terraform Cloud token", `[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60}`},
	{"a Pulumi token", `pul-[0-9a-f]{40}`},
	{"a Grafana token", `gl(?:sa|c)_[0-9A-Za-z_+/=]{32}`},
	{"a New Relic key", `NRAK-[0-9A-Z]{27}|NRII-[0-9A-Za-z-]{32}`},
	{"a Sentry token", `sntry[su]_[0-9A-Za-z+/=_]{40}`},
	{"a Dynatrace token", `dt0[a-z]\d{2}\.[0-9A-Z]{24}\.[0-9A-Z]{64}`},
	{"a PostHog personal key", `phx_[0-9A-Za-z_-]{40}`},
	{"a Mapbox secret token", `sk\.eyJ[0-9A-Za-z_-]{20}`},
	{"a 1Password token", `ops_eyJ[0-9A-Za-z+/]{40}`},

	{"an OpenAI API key", `sk-(?:proj|svcacct|admin)-[0-9A-Za-z_-]{20}|sk-[0-9A-Za-z]{20}T3BlbkFJ`},
	{"an Anthropic API key", `sk-ant-[0-9a-z]+-[0-9A-Za-z_-]{20}`},
	{"a Hugging Face token", `hf_[A-Za-z]{34}`},
	{"a Replicate token", `r8_[0-9A-Za-z]{37}`},
	{"a Groq API key", `gsk_[0-9A-Za-z]{40}`},

	{"a SendGrid API key", `SG\.[0-9A-Za-z_-]{20,24}\.[0-9A-Za-z_-]{39}`},
	{"a Mailgun API key", `key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}`},
	{"a Mailchimp API key", `[0-9a-f]{32}-us\d{1,2}`},
	{"a Brevo API key", `x(?:key|smtp)sib-[0-9a-f]{64}`},
	{"a Resend API key", `re_[0-9A-Za-z]{8}_[0-9A-Za-z]{24}`},

	{"a Slack token", `xox[abeoprs]-[0-9A-Za-z-]{10}|xapp-\d-[0-9A-Z]+-\d+-[0-9a-z]{20}|xoxe\.xox[bp]-\d-[0-9A-Za-z]{20}`},
	{"a Slack webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/[0-9A-Za-z]+/[0-9A-Za-z]+/[0-9A-Za-z]{16}`},
	{"a Discord webhook", `(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{16,20}/[0-9A-Za-z_-]{60}`},
	{"a Discord bot token", `[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.[0-9A-Za-z_-]{27}`},
	{"a Telegram bot token", `\d{8,10}:AA[0-9A-Za-z_-]{33}`},
	{"a Teams webhook", `[0-9a-z-]+\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@`},
	{"a Twilio API key", `SK[0-9a-f]{32}`},

	{"a GitHub token", `gh[oprsu]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{60}`},
	{"a GitLab token", `gl(?:pat|dt|rt|cbt|ptt|oas|soat|agent|imt|ft)-[0-9A-Za-z_=.-]{20}`},
	{"a Bitbucket or Atlassian token", `AT(?:BB|ATT3|CTT3)[0-9A-Za-z_=-]{20}`},
	{"an npm token", `npm_[0-9A-Za-z]{36}`},
	{"a PyPI token", `pypi-AgE[0-9A-Za-z_-]{50}`},
	{"a RubyGems key", `rubygems_[0-9a-f]{48}`},
	{"a Docker token", `dckr_(?:pat|oat)_[0-9A-Za-z_-]{27}`},
	{"a Clojars token", `CLOJARS_[0-9a-z]{60}`},
	{"an Artifactory key", `AKCp[0-9A-Za-z]{60}`},
	{"a Linear API key", `lin_(?:api|oauth)_[0-9A-Za-z]{40}`},
	{"a Notion token", `ntn_[0-9A-Za-z]{40}|secret_[0-9A-Za-z]{43}`},
	{"a Figma token", `fig[dou]_[0-9A-Za-z_-]{40}`},
	{"an Airtable token", `pat[0-9A-Za-z]{14}\.[0-9a-f]{64}`},
	{"a Postman API key", `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`},
	{"a Contentful token", `CFPAT-[0-9A-Za-z_-]{43}`},
	{"a Facebook access token", `EAA[A-Z][0-9A-Za-z]{40}|\d{15,16}\|[0-9A-Za-z_-]{27}`},
	{"a Twitter bearer token", `A{20}[0-9A-Za-z%]{40}`},
}
