package transfer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// What was rejected of a file comes back in columns, and is imported when somebody has corrected it.
func TestRowsInAnotherEncodingComeBackInColumns(t *testing.T) {
	const header = "code,item_id,license,currency,date,buyer"
	const notUTF8 = `,"the row is not valid UTF-8; save the file as UTF-8, or import it as Windows-1252, as which this row is copied"`
	cases := []struct {
		name, encoding, rows string
		rejected, want       string
	}{
		{"a row of an older program", "", "A,1,Regular,USD,2026-04-27,Zoë\nB,1,Regular,USD,2026-04-27,J\xfcrgen \x96 Zoë\nC,1,Regular,USD,2026-04-27,\"M\xfcller, Bea\"\n",
			"B,1,Regular,USD,2026-04-27,Jürgen – Zoë" + notUTF8 + "\nC,1,Regular,USD,2026-04-27,\"Müller, Bea\"" + notUTF8 + "\n", "A Zoë, B Jürgen – Zoë, C Müller, Bea"},
		{"a byte that the encoding does not have", transfer.EncodingWindows1252, "A,1,Regular,USD,2026-04-27,Bea\nB,1,Regular,USD,2026-04-27,J\xfcrgen L\x81e\n",
			"B,1,Regular,USD,2026-04-27,Jürgen L�e,the row is not valid Windows-1252; save the file as UTF-8\n", "A Bea, B Jürgen Lée"},
		{"a row that is rejected for something else", transfer.EncodingWindows1252, "A,1,Regular,USD,2026-04-27,J\xfcrgen\nB,1,Regular,USD,soon,J\xfcrgen\n",
			"B,1,Regular,USD,soon,Jürgen,\"date: \"\"soon\"\" is not a date like 2024-04-27, 2024-04-27 12:00:00 or 27 Apr 2024\"\n", "A Jürgen, B Jürgen"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				o := storetest.CSVInto("ada", nil)
				o.SkipBad, o.CSV.Encoding = true, c.encoding
				file := ""
				o.Bad = func(_ int, _ string, raw []byte) { file += string(raw) + "\n" }
				must.Get(f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(header+"\n"+c.rows), o))(t)
				if want := header + ",reason\n" + c.rejected; strings.TrimPrefix(file, "\ufeff") != want {
					t.Errorf("%q, want %q", file, want)
				}
				if report, bad := f.ImportText(t, strings.NewReplacer("�", "é", ",soon,", ",2026-04-27,").Replace(file), o); len(bad) > 0 {
					t.Errorf("%+v, %v", report, bad)
				}
				var got []string
				for _, p := range purchasesOf(t, f) {
					got = append(got, p.Code+" "+p.BuyerName)
				}
				slices.Sort(got)
				expect.Equal(t, strings.Join(got, ", "), c.want)
			})
		})
	}
}
