package prepared

import "testing"

func TestETagsFollowTheBytes(t *testing.T) {
	a, same, other := New([]byte("a")), New([]byte("a")), New([]byte("b"))
	if a.Plain.ETag[0] != same.Plain.ETag[0] || a.Plain.ETag[0] == other.Plain.ETag[0] {
		t.Errorf("%s %s %s", a.Plain.ETag, same.Plain.ETag, other.Plain.ETag)
	}
}
