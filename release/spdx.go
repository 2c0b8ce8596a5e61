package main

import (
	"fmt"
	"regexp"
	"time"
)

// spdxDocument is a document of SPDX 2.3, with the members that a bill of materials needs.
type spdxDocument struct {
	Version           string             `json:"spdxVersion"`
	ID                string             `json:"SPDXID"`
	DataLicense       string             `json:"dataLicense"`
	Name              string             `json:"name"`
	Namespace         string             `json:"documentNamespace"`
	CreationInfo      spdxCreation       `json:"creationInfo"`
	DocumentDescribes []string           `json:"documentDescribes"`
	Packages          []spdxPackage      `json:"packages"`
	Relationships     []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID               string          `json:"SPDXID"`
	Name             string          `json:"name"`
	Version          string          `json:"versionInfo"`
	DownloadLocation string          `json:"downloadLocation"`
	FilesAnalyzed    bool            `json:"filesAnalyzed"`
	LicenseConcluded string          `json:"licenseConcluded"`
	LicenseDeclared  string          `json:"licenseDeclared"`
	CopyrightText    string          `json:"copyrightText"`
	ExternalRefs     []spdxReference `json:"externalRefs"`
}

type spdxReference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const spdxProduct = "SPDXRef-Package-countersign"

// document is the bill of materials of the release without its parts.
func (r release) document() spdxDocument {
	product := newPackage(spdxProduct, "github.com/countersign/countersign", "v"+r.version, license)
	product.Name = "countersign"
	return spdxDocument{
		Version: "SPDX-2.3", ID: "SPDXRef-DOCUMENT", DataLicense: "CC0-1.0", Name: "countersign-" + r.version,
		Namespace:         fmt.Sprintf("%s/spdx/%s-%s", home, r.version, r.revision),
		CreationInfo:      spdxCreation{Created: r.date.Format(time.RFC3339), Creators: []string{"Tool: countersign-release"}},
		DocumentDescribes: []string{spdxProduct},
		Packages:          []spdxPackage{product},
		Relationships:     []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", spdxProduct}},
	}
}

var notInID = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

// add adds the part with a number.
func (d *spdxDocument) add(number int, m module, declared string) {
	id := fmt.Sprintf("SPDXRef-Package-%d-%s", number+1, notInID.ReplaceAllString(m.path, "-"))
	d.Packages = append(d.Packages, newPackage(id, m.path, m.version, declared))
	d.Relationships = append(d.Relationships, spdxRelationship{spdxProduct, "CONTAINS", id})
}

func newPackage(id, path, version, declared string) spdxPackage {
	return spdxPackage{
		ID: id, Name: path, Version: version,
		DownloadLocation: unknown, LicenseConcluded: unknown, LicenseDeclared: declared, CopyrightText: unknown,
		ExternalRefs: []spdxReference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}
