// Command pocketbase validates purchase codes as the store does,
// as an application built on PocketBase: its rows are records of collections,
// its route is one of PocketBase's router. The benchmark compares the store
// with it.
//
// Usage: pocketbase [-lookup join|records] [-nolog] OUT LINES
//
// The data are kept in OUT/pocketbase. LINES is a file of import lines; it is
// read unless an earlier run was filled from one of the same size. The first and
// only line on standard output is the address.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations" // the tables that PocketBase itself needs
)

func main() {
	how := flag.String("lookup", "join", "how a purchase is found: join (one query) or records (three records, one by expand)")
	noLog := flag.Bool("nolog", false, "switch off the log of requests that PocketBase keeps in a database of its own")
	flag.Parse()
	look, known := lookUps[*how]
	if flag.NArg() != 2 || !known {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), look, *noLog); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase peer:", err)
		os.Exit(1)
	}
}

func run(out, lines string, look func(core.App) lookUp, noLog bool) error {
	out = filepath.Join(out, "pocketbase")
	if err := fillOnce(out, lines); err != nil {
		return err
	}
	app, err := open(filepath.Join(out, "data"))
	if err != nil {
		return err
	}
	defer func() { _ = app.ResetBootstrapState() }()
	if noLog {
		app.Settings().Logs.MaxDays = 0
	}
	return serve(app, look(app))
}

func open(dir string) (core.App, error) {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: dir})
	if err := app.Bootstrap(); err != nil {
		return nil, err
	}
	return app, app.RunAllMigrations()
}

// fillOnce fills the folder unless its file "filled" holds the size of the lines.
func fillOnce(out, lines string) error {
	in, err := os.Open(lines)
	if err != nil {
		return err
	}
	defer in.Close()
	about, err := in.Stat()
	if err != nil {
		return err
	}
	filled, data, size := filepath.Join(out, "filled"), filepath.Join(out, "data"), fmt.Sprintln(about.Size())
	if was, err := os.ReadFile(filled); err == nil && string(was) == size {
		return nil
	}
	if err := errors.Join(os.RemoveAll(filled), os.RemoveAll(data)); err != nil {
		return err
	}
	app, err := open(data)
	if err != nil {
		return err
	}
	if err := fill(app, in); err != nil {
		return err
	}
	if err := app.ResetBootstrapState(); err != nil {
		return err
	}
	return os.WriteFile(filled, []byte(size), 0o600)
}

// serve prints the address and serves until SIGTERM, or until standard input
// ends when that is a pipe.
func serve(app core.App, find lookUp) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.Listener, e.InstallerFunc = listener, nil
		e.Router.POST("/api/purchases/validation", validate(find))
		if err := e.Next(); err != nil {
			return err
		}
		go func() {
			<-ended()
			_ = e.Server.Close()
		}()
		_, err := fmt.Printf("http://%s\n", listener.Addr())
		return err
	})
	return apis.Serve(app, apis.ServeConfig{HttpAddr: listener.Addr().String()})
}

func ended() <-chan os.Signal {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	if in, err := os.Stdin.Stat(); err == nil && in.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			end <- syscall.SIGTERM
		}()
	}
	return end
}
