package deploy

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"signpost/internal/testkit"
)

var prometheusDir = filepath.Join(deployDir, "prometheus")

// rulesFile is a Prometheus file of alert rules.
type rulesFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// TestAlerts checks that the alerts use metrics that exist, and that each alert is tested and documented, and each metric
// documented.
func TestAlerts(t *testing.T) {
	var file rulesFile
	testkit.OK(t, yaml.UnmarshalStrict([]byte(readFile(t, prometheusDir, "alerts.yml")), &file))
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
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(signpost_[a-z_]+)").FindAllStringSubmatch(page, -1) {
		listed = append(listed, m[1])
	}
	slices.Sort(listed)
	exposed = slices.DeleteFunc(exposed, func(name string) bool { return !strings.HasPrefix(name, "signpost_") })
	if !slices.Equal(listed, exposed) {
		t.Errorf("docs/watch.md explains\n%q\nand there are\n%q", listed, exposed)
	}
}

// TestDashboard checks that the queries of the Grafana dashboard are valid and ask for metrics that a running server has.
func TestDashboard(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	testkit.OK(t, json.Unmarshal([]byte(readFile(t, prometheusDir, "dashboard.json")), &dashboard))
	exposed, rules := exposedMetrics(t), "groups:\n- name: dashboard\n  rules:\n"
	count := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			count++
			for _, name := range regexp.MustCompile(`\b(signpost|process|go)_[a-z_]+`).FindAllString(target.Expr, -1) {
				if !slices.Contains(exposed, strings.TrimSuffix(name, "_bucket")) {
					t.Errorf("%s asks for %s, which Signpost does not have", panel.Title, name)
				}
			}
			query := strings.NewReplacer("$__rate_interval", "5m", "$job", "signpost").Replace(target.Expr)
			rules += fmt.Sprintf("  - {record: panel:%d, expr: %q}\n", count, query)
		}
	}
	if count == 0 {
		t.Fatal("the dashboard has no queries")
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	testkit.Write(t, file, rules)
	if out, err := exec.Command(testkit.Find(t, "promtool", "the dashboard in deploy"), "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// exposedMetrics returns the names of all metrics of a server. Each exists from the start; those about certificates need one.
func exposedMetrics(t *testing.T) []string {
	t.Helper()
	dir, cert := t.TempDir(), newCertificate(t, "feeds.example.com")
	testkit.Write(t, filepath.Join(dir, "feeds.yaml"), feeds("One"))
	_, admin := startSignpost(t, nil, dir, "--tls-cert", cert.certFile, "--tls-key", cert.keyFile)
	_, text := get(t, "http://"+admin+"/metrics")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return slices.Sorted(slices.Values(names))
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

// TestPromtool checks the alerts with promtool, and runs their tests. The scrape configurations on the page are valid, and use
// the job name of the alerts.
func TestPromtool(t *testing.T) {
	program, page := testkit.Find(t, "promtool", "the alerts in deploy"), readFile(t, repoDir, "docs", "watch.md")
	promtool := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	promtool(prometheusDir, "check", "rules", "alerts.yml")
	promtool(prometheusDir, "test", "rules", "alerts_test.yml")
	blocks := regexp.MustCompile("(?ms)^```yaml\n(scrape_configs:.*?)^```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("the page has %d scrape configurations, not one for a machine and one for Kubernetes", len(blocks))
	}
	for _, block := range blocks {
		dir := t.TempDir()
		// Debian builds Prometheus without Kubernetes service discovery.
		config := strings.Replace(block[1], "kubernetes_sd_configs:\n      - role: pod\n", "static_configs:\n      - targets: [localhost:8081]\n", 1)
		testkit.Write(t, filepath.Join(dir, "prometheus.yml"), config)
		testkit.Write(t, filepath.Join(dir, "alerts.yml"), readFile(t, prometheusDir, "alerts.yml"))
		promtool(dir, "check", "config", "prometheus.yml")
		if want := "job_name: " + alertsJob(t) + "\n"; !strings.Contains(block[1], want) {
			t.Errorf("no %q in\n%s", want, block[1])
		}
	}
}
