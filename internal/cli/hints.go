package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// checkNext returns how to see whether a command has done what it was to do.
func (t *Console) checkNext() string {
	if look := t.beside("list", "show", "history"); look != "" {
		return "before you repeat it, check with: " + look
	}
	return "before you repeat it, check what was written"
}

// beside returns the first of these commands that is beside the one that ran, "" without any.
func (t *Console) beside(names ...string) string {
	if t.command == nil || !t.command.HasParent() {
		return ""
	}
	for _, name := range names {
		if sibling, _, err := t.command.Parent().Find([]string{name}); err == nil && sibling.Name() == name {
			return sibling.CommandPath()
		}
	}
	return ""
}

// unprinted is the error of a command whose output can't be written. Whatever it was to change has been changed by then.
func (t *Console) unprinted(why error) error {
	if t.onlyReads() {
		return Fail(ExitFailed, "output_failed", why.Error()+"; free some space, or write it elsewhere")
	}
	look := t.beside("list", "show", "history")
	if slices.Contains([]string{"create", "add", "rotate", "rotate-secret"}, t.command.Name()) {
		look = cmp.Or(t.beside("reveal"), look)
	}
	next := "before you repeat it, check what was written"
	if look != "" {
		next = "do not repeat it; see the result with: " + look
	}
	return Fail(ExitUnknown, "output_failed", fmt.Sprintf("%v, but the change was written; %s", why, next))
}

// readers are the names of the commands that change nothing, beyond what the audit log records. A link that could not be
// printed is of no use, and the next one replaces it or is as good.
var readers = []string{
	"bash", "check", "deliveries", "diff", "doctor", "download-link", "export", "fish", "get", "history", "invitations", "list", "powershell",
	"reveal", "setup-link", "show", "sign-in-link", "start", "status", "tail", "test", "verify", "version", "versions", "zsh",
}

// onlyReads reports whether the command that ran changes nothing.
func (t *Console) onlyReads() bool {
	c := t.command
	if c == nil || !c.HasParent() || slices.Contains(readers, c.Name()) {
		return true
	}
	if c.Name() == "schedule" { // which shows the settings, unless a flag changes one
		return AnyChanged(c, nil) != nil
	}
	if out := c.Flag("out"); out != nil && out.Value.String() == "-" {
		return true
	}
	return slices.ContainsFunc([]string{"dry-run", "help", "plan"}, func(name string) bool { f := c.Flag(name); return f != nil && f.Changed })
}

func (t *Console) nextStep(e *countersign.Error) string {
	next := strings.ReplaceAll(nextSteps[e.Code], "{service}", t.Service.Command)
	switch {
	case t.Service.KeyVariable != "" && (e.Code == "key_unreadable" || e.Code == "key_mismatch"):
		return "set " + t.Service.KeyVariable + " to the matching key, or unset it to use the key file of the data folder"
	case e.Code == "key_unreadable":
		return "restore the matching key file from a backup, or create a new one with: " + t.Service.Command + " rekey"
	case e.Code == "key_missing":
		return "restore it from a backup, or create a new one with: " + t.Service.Command + " rekey"
	case e.Code == "key_mismatch":
		return "if that one is lost, create a new one with: " + t.Service.Command + " rekey"
	case e.Code == "database_behind":
		return "accept it with: " + t.Service.Command + " serve --accept-loss"
	case next != "" || e.Kind != countersign.KindUnavailable:
		return next
	case t.Service.Postgres:
		return "check that PostgreSQL runs and that --db is right, then try again"
	}
	return "check that the disk of the data folder has room and that its files can be written, then try again"
}

// nextSteps describes what to do about errors, by their codes. {service} stands for the
// command of the service that the command works on.
var nextSteps = fault.NextSteps{
	"workspace_not_found":            "list them with: countersign store workspace list",
	"csv_states":                     "or say --ignore-states if it does not matter",
	"csv_columns":                    "map them like this: --map 'Purchase Ref=purchase_code,Notes=' --set license_type=Regular; --ignore-others ignores the rest",
	"csv_workspace":                  "name it with --workspace; list them with: countersign store workspace list",
	"test_mode_off":                  "turn it on with: countersign addon iap set iapSandboxEnabled 1, and publish that",
	"iap_disabled":                   "turn them on with: countersign addon iap set iapEnabled 1, and publish that",
	"simulated_purchase_not_found":   "list them with: countersign addon iap simulate list",
	"not_possible":                   "list what is possible with: countersign addon iap simulate list",
	"subscription_renews":            "cancel its renewals first, or erase the user all the same with --force",
	"simulator_full":                 "forget them all with: countersign addon iap simulate clear",
	"backup_encrypted":               "name the file with its age private key: --identity FILE",
	"backup_without_code":            "if you know that it is yours, add --without-code",
	"backup_files_missing":           "mount the disk, check the folder or the bucket and its permissions, and copy lost files back; or remove them from their items and profiles",
	"backup_not_found":               "list them with: {service} backup list",
	"database_in_use":                "stop the server, and other programs that have the database open, such as a connection pooler, then try again",
	"database_not_empty":             "name an empty database with --to, or move that one away first",
	"database_permission":            "let that user do so, for example with: GRANT CREATE ON SCHEMA public TO its name; or name another database with --to",
	"not_moved":                      "check that both databases can be reached and that their disks have room, then try again",
	"import_utf8":                    "omit --encoding",
	"import_not_found":               "list them with: countersign store imports list",
	"sample_not_found":               "load it with: countersign store sample load WORKSPACE",
	"workspace_not_empty":            "create another workspace with: countersign store workspace create USERNAME",
	"key_not_found":                  "list them with: countersign store key list",
	countersign.CodeKeyRevoked:       "create a new one with: countersign store key create",
	"license_not_found":              "list them with: countersign store license list",
	"license_keys_full":              "licenses of all earlier ones end with: countersign store license-key rotate --drop-earlier",
	"schema_older":                   "run: countersign store migrate up",
	"schema_empty":                   "check it with: countersign store migrate status",
	"already_running":                "stop it first, or name another folder with --data",
	"tls_file_unreadable":            "correct --tls-cert and --tls-key, and let the user of the server read both files",
	"tls_file_invalid":               "name the PEM files with --tls-cert and --tls-key",
	"tls_key_encrypted":              "write it without a passphrase: openssl pkey -in KEY -out NEWKEY",
	"tls_key_mismatch":               "name the two files that were issued together with --tls-cert and --tls-key",
	"address_in_use":                 "choose another address with --listen",
	fault.CodeUpdateNeeded:           "run: countersign addon update",
	"workspace_exists":               "change it with: countersign store workspace set",
	"item_not_found":                 "list them with: countersign store item list --workspace W",
	"item_no_file":                   "upload it with: countersign store item media set ID --file FILE",
	"media_unavailable":              "check the folder or the bucket, --media and its credentials, then try again",
	"media_url":                      "correct --media or COUNTERSIGN_STORE_MEDIA",
	"slot_kind":                      "change the kind with: countersign store item edit ID --kind KIND",
	"item_exists":                    "change it with: countersign store item edit, or leave the id out to get the next one",
	"purchase_exists":                "leave --code out to get a new one",
	countersign.CodePurchaseNotFound: "list them with: countersign store purchase list --workspace W",
	"purchase_active":                "show it with: countersign store purchase show",
	countersign.CodePurchaseRefunded: "undo that with: countersign store purchase restore",
	"purchase_charged_back":          "undo that with: countersign store purchase restore",
	"purchase_revoked":               "undo that with: countersign store purchase restore",
	"license_ended":                  "show it with: countersign store license show",
	countersign.CodeLimitReached:     "move one with: countersign store license move, or allow more with: countersign store item set",
	"setting_not_found":              "list them with: countersign addon settings list",
	"version_not_found":              "list them with: countersign addon settings history",
	"credential_not_found":           "list them with: countersign addon api list",
	"package_not_found":              "list them with: countersign addon package list",
	"product_not_found":              "list them with: countersign addon iap product list",
	"webhook_not_found":              "list them with: countersign addon webhook list",
	"webhook_paused":                 "run: countersign addon webhook resume",
	"webhook_secret_lost":            "run: countersign addon webhook rotate-secret",
	"delivery_not_found":             "list them with: countersign addon webhook deliveries",
	"cursor_unknown":                 "list all events with: countersign addon event list",
	"package_exists":                 "change it with: countersign addon package set",
	"secret_looking":                 "if it is not a secret, repeat it with --allow-secret-looking",
	"setting_exists":                 "change it with: countersign addon settings set",
	"already_set_up":                 "a new password is set with: {service} user reset-password",
	"key_exists":                     "list them with: countersign store key list, or replace the key with: countersign store key rotate",
	"credential_active":              "run: countersign addon api deactivate",
	"label_exists":                   "list them with: countersign addon api list",
	"product_exists":                 "remove it with: countersign addon iap product remove",
	"email_taken":                    "list them with: {service} user list",
	"service_account_not_found":      "set one with: countersign addon iap service-account FILE",
	"publish_blocked":                "list what repairs it with: countersign addon settings diff",
	"last_administrator":             "add another one first with: {service} user create",
	"user_inactive":                  "activate it with: {service} user activate",
	"user_not_found":                 "list them with: {service} user list",
	"member_exists":                  "change the role with: countersign store member set",
	"member_not_found":               "list them with: countersign store member list --workspace W",
	"invitation_not_found":           "list them with: countersign store member invitations --workspace W",
	countersign.CodeBusy:             "another command is writing; try again when it has ended",
	"db_pooler":                      "set the pooler to session mode (in PgBouncer: pool_mode = session), or connect to PostgreSQL directly with --db",
	"in_web_root":                    "choose it with --data FOLDER, or with COUNTERSIGN_ADDON_DATA",
	"database_damaged":               "check it with: countersign doctor",
	"other_service":                  "name this service's own folder with --data, and its own database with --db",
	"data_folder":                    "let this user read and write it, check that its disk has room, or name another folder with --data",
	"backup_folder":                  "let this user write to it, and check that its disk has room",
	"temporary_folder":               "make room there, or name another folder in TMPDIR",
	"disk_full":                      "make room on it, then try again",
}
