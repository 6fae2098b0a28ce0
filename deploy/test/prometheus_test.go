package deploy

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"

	"signpost/internal/testkit"
)

var prometheusDir = filepath.Join(deployDir, "prometheus")

// rulesFile is a Prometheus file of alert rules.
type rulesFile struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

// TestAlerts checks that the alerts use metrics that exist, and that each is tested and documented.
func TestAlerts(t *testing.T) {
	var file rulesFile
	if err := yaml.UnmarshalStrict([]byte(readFile(t, prometheusDir, "alerts.yml")), &file); err != nil {
		t.Fatal(err)
	}
	exposed := exposedMetrics(t)
	tests, page := readFile(t, prometheusDir, "alerts_test.yml"), readFile(t, repoDir, "docs", "watch.md")
	count := 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			count++
			if rule.Alert == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
				t.Errorf("%s has no name, summary, description or severity", rule.Alert)
			}
			for _, name := range regexp.MustCompile(`\b(signpost|process|go)_[a-z_]+`).FindAllString(rule.Expr, -1) {
				if !slices.Contains(exposed, strings.TrimSuffix(name, "_bucket")) {
					t.Errorf("%s asks for %s, which Signpost does not have", rule.Alert, name)
				}
			}
			fires := regexp.MustCompile(`alertname: ` + rule.Alert + `\n +exp_alerts:`)
			quiet := "alertname: " + rule.Alert + "}"
			if !fires.MatchString(tests) || !strings.Contains(tests, quiet) {
				t.Errorf("alerts_test.yml does not show that %s fires, and that it does not", rule.Alert)
			}
			if !strings.Contains(page, "`"+rule.Alert+"`") {
				t.Errorf("docs/watch.md does not say what to do about %s", rule.Alert)
			}
		}
	}
	if count == 0 {
		t.Error("there are no alerts")
	}
}

// TestMetricsPage keeps the table of metrics in sync with the program.
func TestMetricsPage(t *testing.T) {
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(signpost_[a-z_]+)").FindAllStringSubmatch(readFile(t, repoDir, "docs", "watch.md"), -1) {
		listed = append(listed, m[1])
	}
	exposed := slices.DeleteFunc(exposedMetrics(t), func(name string) bool { return !strings.HasPrefix(name, "signpost_") })
	slices.Sort(listed)
	if !slices.Equal(listed, exposed) {
		t.Errorf("docs/watch.md explains\n%q\nand there are\n%q", listed, exposed)
	}
}

// TestAlertsWithPromtool checks the rules with promtool, and runs their tests.
func TestAlertsWithPromtool(t *testing.T) {
	promtool := testkit.Find(t, "promtool", "the alerts in deploy")
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = prometheusDir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// exposedMetrics returns the names of all metrics of a server on which every counted event has occurred.
func exposedMetrics(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	definition := filepath.Join(dir, "feeds.yaml")
	writeFile(t, definition, feeds("One"))
	cert := newCertificate(t, "feeds.example.com")
	_, secureAdmin, _ := startSignpost(t, nil, dir, "--tls-cert", cert.certFile, "--tls-key", cert.keyFile)
	_, secure := get(t, "http://"+secureAdmin+"/metrics") // includes those about certificates
	listen, admin, p := startSignpost(t, nil, dir)
	get(t, "http://"+listen+manifestPath)                 // a miss
	get(t, "http://"+listen+manifestPath)                 // a hit
	get(t, "http://"+listen+manifestPath, "Host", "a..b") // rejected
	writeFile(t, definition, strings.Replace(feeds("Two"), "get", "GET", 1))
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a failed reload", func() bool {
		_, text := get(t, "http://"+admin+"/metrics")
		return strings.Contains(text, `signpost_reloads_total{result="failure"} 1`)
	})
	_, text := get(t, "http://"+admin+"/metrics")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text+secure, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// alertsJob returns the job name that the alerts use.
func alertsJob(t *testing.T) string {
	t.Helper()
	jobs := regexp.MustCompile(`job="([^"]*)"`).FindAllStringSubmatch(readFile(t, prometheusDir, "alerts.yml"), -1)
	if len(jobs) == 0 {
		t.Fatal("the alerts are for no job")
	}
	for _, job := range jobs {
		if job[1] != jobs[0][1] {
			t.Errorf("the alerts are for %q and %q", jobs[0][1], job[1])
		}
	}
	return jobs[0][1]
}

// TestScrapeConfigs checks the scrape configurations on the page with promtool. They use the job name of the alerts.
func TestScrapeConfigs(t *testing.T) {
	promtool, page := testkit.Find(t, "promtool", "the alerts in deploy"), readFile(t, repoDir, "docs", "watch.md")
	blocks := regexp.MustCompile("(?ms)^```yaml\n(scrape_configs:.*?)^```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("the page has %d scrape configurations, not one for a machine and one for Kubernetes", len(blocks))
	}
	for _, block := range blocks {
		dir := t.TempDir()
		// Debian builds Prometheus without Kubernetes service discovery.
		config := strings.Replace(block[1], "kubernetes_sd_configs:\n      - role: pod\n", "static_configs:\n      - targets: [localhost:8081]\n", 1)
		writeFile(t, filepath.Join(dir, "prometheus.yml"), config)
		writeFile(t, filepath.Join(dir, "alerts.yml"), readFile(t, prometheusDir, "alerts.yml"))
		if out, err := exec.Command(promtool, "check", "config", filepath.Join(dir, "prometheus.yml")).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s\n%s", err, out, block[1])
		}
		if want := "job_name: " + alertsJob(t) + "\n"; !strings.Contains(block[1], want) {
			t.Errorf("no %q in\n%s", want, block[1])
		}
	}
}
