package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestTheDraftIsDiscardedOnAPageOfItsOwn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(appPath).SilentAbout("Discard")
		s.mustSet(t, "appName", "Rain", "iapStorePackageName", "com.example.rain")
		for path, to := range map[string]string{appPath: appPath, iapPath: iapPath, appPath + "/publish": appPath, iapPath + "/publish": iapPath} {
			expect.Equalf(t, len(b.Get(path).Says("Discard draft").Having("href", to+"/discard")), 1, "%s does not lead to the discard", path)
		}
		b.Get(appPath+"/discard").Says("Discard the draft", "2 changes of the draft", "Rain", "My app", "com.example.rain")
		b.Fill(appPath+"/discard", appPath+"/discard").LeadsTo(appPath)
		b.Get(appPath).Says("2 changes discarded.").SilentAbout("Discard draft")
		s.wantValue(t, "appName", "My app")
		s.wantValue(t, "iapStorePackageName", "")
		b.Get(appPath + "/discard").LeadsTo(appPath)
		b.Get(appPath).Says("Nothing to discard")
		b.Get("/api-addons/admin/audit").Says("Discarded a change of the draft")
	})
}

func TestTheChangeOfOneKeyIsDiscarded(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain", "iapStorePackageName", "com.example.rain")
		path := iapPath + "/discard?key=iapStorePackageName"
		expect.Equalf(t, len(b.Get(iapPath).Having("href", path)), 1, "nothing leads to the discard of the key")
		b.Get(path).Says("Discard the change of iapStorePackageName", "Other changes stay in the draft").SilentAbout("Rain")
		b.Fill(path, path).LeadsTo(iapPath)
		b.Get(iapPath).Says("1 change discarded.", "appName")
		s.wantValue(t, "iapStorePackageName", "")
		s.wantValue(t, "appName", "Rain")
	})
}

func TestADiscardOfADraftThatChangedMeanwhileIsRefused(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	path := appPath + "/discard"
	form := b.Get(path).Form(path)
	s.mustSet(t, "streamAppId", "970ca35d")
	p := b.PostForm(path, form).Status(http.StatusPreconditionFailed).Says("Nothing was discarded.", "The settings changed after you read them", "2 changes of the draft")
	s.wantValue(t, "appName", "Rain")
	b.PostForm(path, p.Form(path)).LeadsTo(appPath)
	s.wantValue(t, "streamAppId", "")
}
