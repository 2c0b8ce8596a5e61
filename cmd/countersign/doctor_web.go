package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
)

const (
	// webCheckTime is how long doctor looks for one key file on the web.
	webCheckTime = 15 * time.Second
	// maxKeyAnswer is how many bytes of an answer are read; a key file is shorter.
	maxKeyAnswer = 4 << 10
	maxRedirects = 3
)

// siteAddress is the address at which strangers reach a service: the one that was given,
// else the one of the server that runs, else "". The address of this machine is not one.
func siteAddress(given, served string) string {
	u, err := url.Parse(served)
	if given != "" || err != nil {
		return given
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.IsLoopback() {
		return ""
	}
	return served
}

// checkWeb tries to fetch the key file of a data folder by the address of its site. It
// compares contents, so that a page that answers every address causes no false alarm. Without
// an address or a key file, it returns no findings.
func checkWeb(ctx context.Context, dir, site string) []health.Finding {
	own, err := keyfile.Load(dir)
	base, badURL := url.Parse(site)
	if site == "" || err != nil || badURL != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, webCheckTime)
	defer cancel()
	client := webClient()
	defer client.CloseIdleConnections()
	found := health.Finding{Name: "web access", Level: health.OK, What: "The key file was not found on the web at " + site}
	for i, path := range keyPaths(dir, base.Path) {
		at := url.URL{Scheme: base.Scheme, Host: base.Host, Path: path}
		box, err := fetchKey(ctx, client, at.String())
		if err == nil && box != nil && own.Matches(box.Check()) {
			return []health.Finding{keyOnWeb(found.Name, at.String())}
		}
		if err != nil {
			found.Level, found.What = health.Skipped, fmt.Sprintf("Whether the web serves the key file was not fully checked: %s (%v)", site, webReason(err))
		}
		if err != nil && i == 0 || ctx.Err() != nil {
			break // the site does not answer
		}
	}
	return []health.Finding{found}
}

func keyOnWeb(name, at string) health.Finding {
	return health.Finding{
		Name: name, Level: health.Fail, What: "Anyone can download the key file at " + at,
		Why: "With the database, it opens every secret. Treat both as disclosed.",
		Fix: "Stop the server, move the data folder out of the web root, and name it with --data. Then create a new key file with rekey, and replace the secrets.",
	}
}

// webClient calls the operator's own site, which may be in a private network. It follows
// redirects within the site, such as those to https.
func webClient() *http.Client {
	client := *dial.New(dial.Private()).Client()
	client.CheckRedirect = func(r *http.Request, before []*http.Request) error {
		host := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
		if len(before) > maxRedirects || host(r.URL) != host(before[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &client
}

// fetchKey returns the key file that an address answers with, nil for anything else. The
// error is that of a site that does not answer.
func fetchKey(ctx context.Context, client *http.Client, at string) (*keyfile.Box, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxKeyAnswer))
	if err != nil {
		return nil, err
	}
	box, err := keyfile.Parse(string(text))
	if errors.Is(err, keyfile.ErrNoKeyFile) {
		return nil, nil
	}
	return box, err
}

// webReason is why a site does not answer, without the address, which is named already.
func webReason(err error) error {
	var failed *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %v", webCheckTime)
	case errors.As(err, &failed):
		return failed.Err
	}
	return err
}

// keyPaths lists the paths at which a site would serve the key file of a data folder, the
// shortest first: every end of the folder's path, because any of its parents may be the web
// root, both at the root of the host and below the path of the site's address.
func keyPaths(dir, base string) (paths []string) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	paths = []string{"/" + keyfile.FileName}
	for _, folder := range []string{path, keyfile.Resolved(path)} {
		parts := strings.Split(strings.Trim(filepath.ToSlash(folder), "/"), "/")
		for i := range slices.Backward(parts) {
			paths = append(paths, "/"+strings.Join(parts[i:], "/")+"/"+keyfile.FileName)
		}
	}
	if base = strings.TrimRight(base, "/"); base != "" {
		for _, p := range paths {
			paths = append(paths, base+p)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return len(a) - len(b) })
	return slices.Compact(paths)
}
