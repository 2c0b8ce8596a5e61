package main

import (
	"errors"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
)

// tlsOptions say how a server does TLS itself. Without a certificate and without hosts it speaks plain HTTP.
type tlsOptions struct {
	certificate, key string   // paths of PEM files
	hosts            []string // to obtain certificates for
	email, directory string   // of the ACME account, and the URL of the authority
	redirect         string   // address that redirects to https, "" for none
}

func (o tlsOptions) on() bool { return o.certificate != "" || len(o.hosts) > 0 }

// registerTLS adds the flags of TLS.
func (f *serverFlags) registerTLS(c *cobra.Command, at locationFlags) {
	fs, o := c.Flags(), &f.options.tls
	fs.String("tls-cert", "", "PEM `file` with the server's certificate and its chain, for https; read again when it changes ("+at.tlsCert+")")
	fs.String("tls-key", "", "PEM `file` with the certificate's private key ("+at.tlsKey+")")
	fs.StringSliceVar(&o.hosts, "acme", nil, "`host` to obtain a certificate for from Let's Encrypt, whose terms you accept by that (repeatable)")
	fs.StringVar(&o.email, "acme-email", "", "`address` that the certificate authority may write to")
	fs.StringVar(&o.directory, "acme-url", "", "`URL` of the ACME directory of another certificate authority")
	fs.StringVar(&o.redirect, "redirect-listen", "", "`address` that redirects pages from http to https, like :80; calls of the API are refused there")
}

// checkTLS understands the flags of TLS and completes the base URL.
func (f *serverFlags) checkTLS(c *cobra.Command, o *serverOptions, wrong *wrongFlags) {
	t := &o.tls
	t.certificate, t.key = c.Flag("tls-cert").Value.String(), c.Flag("tls-key").Value.String()
	t.noteConflicts(wrong)
	if len(t.hosts) > 0 {
		issued, err := newACME(*t, "", nil, nil)
		if err != nil {
			wrong.note("--acme", errors.New(fault.Message(err)))
		} else if o.baseURL == "" {
			o.baseURL = "https://" + issued.Hosts()[0]
		}
	}
	if t.on() && strings.HasPrefix(o.baseURL, "http://") {
		wrong.note("--base-url", errors.New("begins with http://, but the server uses TLS: expected https://"))
	}
	if t.redirect != "" {
		wrong.note("--redirect-listen", checkListen(t.redirect))
		if !t.on() {
			wrong.note("--redirect-listen", errors.New("needs --tls-cert or --acme"))
		}
	}
}

// noteConflicts notes flags that need others, or that exclude each other.
func (o tlsOptions) noteConflicts(wrong *wrongFlags) {
	switch {
	case o.certificate != "" && o.key == "":
		wrong.note("--tls-key", errors.New("missing: --tls-cert needs the file with its private key"))
	case o.certificate == "" && o.key != "":
		wrong.note("--tls-cert", errors.New("missing: --tls-key needs the file with its certificate"))
	case o.certificate != "" && len(o.hosts) > 0:
		wrong.note("--acme", errors.New("can't be used with --tls-cert: choose one of them"))
	case len(o.hosts) == 0 && o.email != "":
		wrong.note("--acme-email", errors.New("needs --acme"))
	case len(o.hosts) == 0 && o.directory != "":
		wrong.note("--acme-url", errors.New("needs --acme"))
	}
}
