package frame

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/people"
)

func (f *Frame) showSessions(w http.ResponseWriter, r *Request) error {
	all, err := f.People.Sessions(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return f.Show(w, r, Page{Title: "Where you are signed in", Crumbs: f.securityCrumbs(), Body: sessionsView(f, f.sessionRows(r, all), len(all) > 1),
		Lead: "End unfamiliar sessions, then change your password."})
}

func (f *Frame) sessionRows(r *Request, all []people.Session) []Row {
	rows := make([]Row, len(all))
	for i, s := range all {
		browser := Words(agentName(s.Agent))
		end := Button{Label: "End", Path: f.Account + "/sessions/" + strconv.FormatInt(int64(s.ID), 10) + "/end", Context: agentName(s.Agent) + ", " + s.Address}
		if s.ID == r.Session {
			browser = Group(browser, Badge{Text: "This browser", Kind: Good})
			end = Button{Label: "Sign out", Path: f.siblingPath("logout")}
		}
		rows[i] = Row{browser, Mono(s.Address), Time(s.CreatedAt), Time(s.SeenAt), end}
	}
	return rows
}

func (f *Frame) endSession(w http.ResponseWriter, r *Request) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return f.NotFound(w, r)
	}
	if err := f.People.EndSession(r.Context(), r.Actor, people.SessionID(id)); err != nil {
		return err
	}
	return f.Redirect(w, r, f.Account+"/sessions", "The session was ended.")
}

func (f *Frame) endOtherSessions(w http.ResponseWriter, r *Request) error {
	ended, err := f.People.EndOtherSessions(r.Context(), r.Actor, r.Session)
	if err != nil {
		return err
	}
	return f.Redirect(w, r, f.Account+"/sessions", Count(int(ended), "session")+" ended.")
}

// agentName returns which browser on which system a User-Agent names, in the words
// of people. The order matters: most browsers also name the ones before them.
func agentName(agent string) string {
	browser := firstIn(agent, "Edg", "Edge", "OPR/", "Opera", "SamsungBrowser", "Samsung Internet", "Firefox", "Firefox", "FxiOS", "Firefox",
		"Chrome", "Chrome", "CriOS", "Chrome", "Safari", "Safari", "curl", "curl")
	system := firstIn(agent, "Windows", "Windows", "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "CrOS", "ChromeOS",
		"Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "" || system != "":
		return browser + system
	}
	return "Unknown browser"
}

// firstIn returns the name beside the first mark that s contains; marks and
// names take turns.
func firstIn(s string, marksAndNames ...string) string {
	for i := 0; i < len(marksAndNames); i += 2 {
		if strings.Contains(s, marksAndNames[i]) {
			return marksAndNames[i+1]
		}
	}
	return ""
}
