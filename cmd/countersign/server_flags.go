package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/web"
	"github.com/spf13/cobra"
)

const (
	defaultListen      = "127.0.0.1:8080"
	defaultAddonListen = "127.0.0.1:8081"
	// defaultFailLimit is how many failures an address has a minute.
	defaultFailLimit  = 600
	defaultIdle       = 120 * time.Second
	defaultCache      = "64MiB"
	defaultQuota      = "5GiB"
	defaultRequestLog = "30d"
)

// serverFlags are the flags of a server as they were typed, where options don't have them.
type serverFlags struct {
	options serverOptions
	log     string
	cache   string // of the store alone, like what follows
	quota   string
	proxies []string
	private []string // of the addon alone
}

// serverOptions are the flags of a server once they are understood.
type serverOptions struct {
	listen          string
	listenFlag      string // the flag that names it
	baseURL         string // without a trailing slash; empty when it is not known
	baseURLVariable string // the variable that may name it
	proxies         []netip.Prefix
	failLimit       int
	idle            time.Duration // how long a connection without a request is kept
	// cache is how much memory the store keeps answers in, in bytes.
	cache int64
	// quota is how much a workspace may upload, in bytes; 0 for any amount.
	quota int64
	// keep is how much a store keeps of the log of API requests.
	keep requests.Keep
	// allowPrivate are the private networks that an addon may call.
	allowPrivate []netip.Prefix
	log          web.LogMode
	metrics      string // empty: off
	tls          tlsOptions
	// pprof serves profiles beside the metrics.
	pprof bool
	// acceptLoss serves a database that lacks commits.
	acceptLoss bool
	// exposed is what other users can read of the configuration file.
	exposed []health.Finding
}

// register adds the flags that all servers have, and their check.
func (f *serverFlags) register(c *cobra.Command, at locationFlags) {
	fs := c.Flags()
	c.PreRunE = func(c *cobra.Command, _ []string) error { return f.check(c) }
	fs.String("listen", at.address, "`address` to listen on ("+at.listen+")")
	fs.String("base-url", "", "the server's public `URL`, used in signed files, responses and links; needed on a public address ("+at.baseURL+")")
	f.registerTLS(c, at)
	fs.StringSliceVar(&f.proxies, "trusted-proxy", nil, "`network` of proxies whose X-Forwarded headers are trusted (repeatable)")
	fs.StringVar(&f.log, "log", string(web.LogOff), "access log: off, text or json; causes of 500 are always logged, of 503 once a minute")
	fs.StringVar(&f.options.metrics, "metrics", "", "`address` to serve Prometheus metrics on; do not make it public (default off)")
	fs.BoolVar(&f.options.pprof, "pprof", false, "also serve profiles of the running program at /debug/pprof/ of the --metrics address")
	fs.IntVar(&f.options.failLimit, "fail-limit", defaultFailLimit, "failed authentications of an address a minute; 0 for no limit")
	fs.DurationVar(&f.options.idle, "idle-timeout", defaultIdle, "how long a connection without a request is kept; longer than a proxy keeps it")
	fs.BoolVar(&f.options.acceptLoss, "accept-loss", false, "serve a database that lacks commits, for example a restored backup; the audit log says so")
	_ = c.RegisterFlagCompletionFunc("log", cobra.FixedCompletions([]string{"off", "text", "json"}, cobra.ShellCompDirectiveNoFileComp))
}

// wrongFlags collects what is wrong with flags.
type wrongFlags []wrongFlag

type wrongFlag struct {
	name    string // with its hyphens
	problem string
}

func (w *wrongFlags) note(flag string, err error) {
	if err != nil {
		*w = append(*w, wrongFlag{flag, cli.Safe(err.Error())})
	}
}

// err names all that is wrong, each with the flag, the variable or the line of a file that has it.
func (w *wrongFlags) err(c *cobra.Command) error {
	if len(*w) == 0 {
		return nil
	}
	texts := make([]string, len(*w))
	for i, wrong := range *w {
		texts[i] = config.Label(c.Flag(strings.TrimPrefix(wrong.name, "--"))) + ": " + wrong.problem
	}
	return cli.Usage(c, strings.Join(texts, "; "))
}

// check understands the flags. Its error names all that is wrong with them.
func (f *serverFlags) check(c *cobra.Command) (err error) {
	var wrong wrongFlags
	o := &f.options
	o.listen = c.Flag("listen").Value.String()
	wrong.note("--listen", checkListen(o.listen))
	if o.metrics != "" {
		wrong.note("--metrics", checkListen(o.metrics))
	}
	o.baseURL, err = parseBaseURL(c.Flag("base-url").Value.String())
	if o.pprof && o.metrics == "" {
		wrong.note("--pprof", errors.New("needs the address of --metrics"))
	}
	wrong.note("--base-url", err)
	f.checkTLS(c, o, &wrong)
	o.proxies, err = parseNetworks(f.proxies)
	wrong.note("--trusted-proxy", err)
	o.allowPrivate, err = parseNetworks(f.private)
	for _, network := range o.allowPrivate {
		err = cmp.Or(err, dial.CheckNetwork(network))
	}
	wrong.note("--allow-private", err)
	o.log, err = web.ParseLogMode(f.log)
	wrong.note("--log", err)
	if o.failLimit < 0 {
		wrong.note("--fail-limit", fmt.Errorf("%d is negative; 0 means no limit", o.failLimit))
	}
	if o.idle < time.Second {
		wrong.note("--idle-timeout", fmt.Errorf("%s is too short; write at least 1s, like 120s", o.idle))
	}
	o.cache, err = parseSize(f.cache)
	wrong.note("--cache", err)
	if c.Flag("upload-quota") != nil {
		o.quota, err = parseSize(f.quota)
		wrong.note("--upload-quota", err)
	}
	if c.Flag("request-log") != nil {
		o.keep, err = parseKeep(c.Flag("request-log").Value.String())
		wrong.note("--request-log", err)
	}
	return wrong.err(c)
}

// located are the options of a server, once its flags are checked, and where its data is.
func (f *serverFlags) located(a *app, c *cobra.Command, l locationFlags) (location, serverOptions, error) {
	at, err := a.locate(c, l)
	o := f.options
	o.listenFlag, o.baseURLVariable, o.exposed = "--listen", l.baseURL, a.exposedConfig(c, l)
	return at, o, err
}

// parseKeep reads how much is kept of the log of API requests: an age, and with a comma a
// number of calls, or off.
func parseKeep(text string) (requests.Keep, error) {
	if text == "off" {
		return requests.Keep{}, nil
	}
	keep := requests.DefaultKeep
	age, calls, given := strings.Cut(text, ",")
	var err error
	if keep.For, err = cli.ParseAge(age); err == nil && given {
		keep.Calls, err = strconv.ParseInt(calls, 10, 64)
	}
	if err != nil || keep.Calls <= 0 {
		return requests.Keep{}, fmt.Errorf("%q: expected an age like 30d, an age and a number of calls like 30d,10000000, or off", text)
	}
	return keep, nil
}

// checkListen wants an address with a port number.
func checkListen(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("invalid address %q: expected host:port, like 127.0.0.1:8080 or :8080", addr)
	}
	return nil
}

func parseBaseURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("invalid web address: expected one like https://shop.example")
	}
	return strings.TrimRight(text, "/"), nil
}

// parseNetworks reads networks; a single address is a network of one.
func parseNetworks(texts []string) ([]netip.Prefix, error) {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		network, err := netip.ParsePrefix(text)
		if addr, single := netip.ParseAddr(text); single == nil && addr.Zone() == "" {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("invalid network %q: expected one like 10.0.0.0/8", text)
		}
		all[i] = network
	}
	return all, nil
}

// parseSize reads a number of bytes with a unit: 64MiB, 512KiB, 1GiB, or plain.
func parseSize(text string) (int64, error) {
	number, unit := text, int64(1)
	for i, name := range []string{"KiB", "MiB", "GiB"} {
		if digits, ok := strings.CutSuffix(text, name); ok {
			number, unit = digits, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > 1<<40/unit {
		return 0, fmt.Errorf("invalid size %q: expected one like 64MiB", text)
	}
	return n * unit, nil
}
