package addon_test

import (
	"bytes"
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/sqldb"
)

// A server hears of what another process publishes and of its packages.
func TestPublishByAnotherProcessIsServed(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		server := addontest.New(t, f.At, f.Clock)
		server.Serve(t)
		old := server.Served(t)
		news := make(chan struct{}, 8)
		server.Instance.Database.Watch(sqldb.Watcher{Changed: func(topic, _ string) {
			if topic == addondb.TopicServed {
				news <- struct{}{} // after the addon's own watcher, which was added first
			}
		}, Lost: func() {}, Live: func() {}})
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.MustPublish(t, "")
		<-news
		if got := server.Served(t); got.Version != 2 || bytes.Equal(got.JSON, old.JSON) {
			t.Errorf("version %d is served", got.Version)
		}
		f.MustPackage(t, 1, "Gold", true)
		<-news
	})
}
