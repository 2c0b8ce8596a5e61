package membership

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

// maxSubscriberLine is how long a line may be, in bytes.
const maxSubscriberLine = 16 << 10

// ReadSubscribers reads a list of subscribers: JSON Lines, or CSV whose first row names its columns. The members are
// user_id, and purchase_token or order_id; other ones are ignored. bad is called for each line that is not valid.
func ReadSubscribers(file io.Reader, bad func(line int, reason string)) (list []Subscriber, err error) {
	text := bufio.NewReaderSize(file, maxSubscriberLine)
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(len(mark))
	}
	read := readSubscriberRows
	if start, _ := text.Peek(maxSubscriberLine); bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) {
		read = readSubscriberLines
	}
	seen := map[string]Subscriber{} // by token or order
	err = read(text, func(one Subscriber, reason string) {
		if reason == "" {
			reason = problemOf(&one, seen)
		}
		if reason != "" {
			bad(one.Line, reason)
			return
		}
		list = append(list, one)
	})
	return list, err
}

// problemOf returns what is wrong with a line, "" for nothing.
func problemOf(one *Subscriber, seen map[string]Subscriber) string {
	one.User, one.Token, one.OrderID = strings.TrimSpace(one.User), strings.TrimSpace(one.Token), strings.TrimSpace(one.OrderID)
	if err := checkUser(one.User); err != nil {
		return "user_id: " + fault.Of(err).Message
	}
	switch {
	case (one.Token == "") == (one.OrderID == ""):
		return "the line needs a purchase_token or an order_id, and not both"
	case one.Token != "" && checkRequest(one.Token, one.User) != nil:
		return "purchase_token: it is malformed"
	case one.OrderID != "" && checkRequest(one.OrderID, one.User) != nil:
		return "order_id: it is malformed"
	}
	key := "token " + one.Token
	if one.Token == "" {
		key = "order " + one.OrderID
	}
	if before, there := seen[key]; there && before.User != one.User {
		return fmt.Sprintf("line %d has this purchase for another user", before.Line)
	}
	seen[key] = *one
	return ""
}

// readSubscriberLines reads JSON Lines.
func readSubscriberLines(file io.Reader, add func(one Subscriber, reason string)) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxSubscriberLine)
	line := 0
	for lines.Scan() {
		line++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var in struct {
			User  string `json:"user_id"`
			Token string `json:"purchase_token"`
			Order string `json:"order_id"`
		}
		reason := ""
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
			reason = "it is not a JSON object with the texts user_id, and purchase_token or order_id"
		}
		add(Subscriber{line, in.User, in.Token, in.Order}, reason)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fault.Invalid("subscribers_unreadable", fmt.Sprintf("Line %d is longer than %d bytes", line+1, maxSubscriberLine))
	} else if err != nil {
		return fmt.Errorf("membership: read subscribers: %w", err)
	}
	return nil
}

// readSubscriberRows reads CSV.
func readSubscriberRows(file io.Reader, add func(one Subscriber, reason string)) error {
	rows := csv.NewReader(file)
	rows.TrimLeadingSpace = true
	header, err := rows.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadableRows(err)
	}
	columns := map[string]int{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i + 1
	}
	if columns["user_id"] == 0 || columns["purchase_token"] == 0 && columns["order_id"] == 0 {
		return fault.Invalid("subscribers_unreadable", "The first row has to name the columns user_id, and purchase_token or order_id")
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreadableRows(err)
		}
		line, _ := rows.FieldPos(0)
		cell := func(name string) string {
			if columns[name] == 0 {
				return ""
			}
			return row[columns[name]-1]
		}
		add(Subscriber{line, cell("user_id"), cell("purchase_token"), cell("order_id")}, "")
	}
}

// unreadableRows is the error of CSV that can't be read. It repeats nothing of it.
func unreadableRows(err error) error {
	if broken, ok := errors.AsType[*csv.ParseError](err); ok {
		return fault.WithCause(fault.Invalid("subscribers_unreadable", fmt.Sprintf("Line %d is not valid CSV: %v", broken.Line, broken.Err)), err)
	}
	return fmt.Errorf("membership: read subscribers: %w", err)
}
