package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var kubernetesDir = filepath.Join(deployDir, "kubernetes")

// decoder knows the kinds that we use, and rejects unknown and duplicate fields.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

// podMonitor is a PodMonitor of the Prometheus Operator, reduced to the fields that we use.
type podMonitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Selector            metav1.LabelSelector `json:"selector"`
		JobLabel            string               `json:"jobLabel"`
		PodTargetLabels     []string             `json:"podTargetLabels"`
		PodMetricsEndpoints []struct {
			Port string `json:"port"`
			Path string `json:"path"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// decodePodMonitor is strict, like the decoder.
func decodePodMonitor(t *testing.T, text string) podMonitor {
	t.Helper()
	var m podMonitor
	if err := yaml.UnmarshalStrict([]byte(text), &m); err != nil || m.APIVersion != "monitoring.coreos.com/v1" {
		t.Errorf("PodMonitor: %v\n%s", err, text)
	}
	return m
}

// objects holds the result of building a directory like "kubectl apply -k".
type objects struct {
	all         []runtime.Object
	podMonitors []podMonitor
}

// copyKubernetes copies deploy/kubernetes to a directory outside the repository, as docs/operate.md says.
func copyKubernetes(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my-signpost")
	if err := os.CopyFS(dir, os.DirFS(kubernetesDir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func buildKustomization(t *testing.T, folder string) objects {
	t.Helper()
	return buildIn(t, copyKubernetes(t), folder)
}

func buildIn(t *testing.T, dir, folder string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(dir, folder))
	if err != nil {
		t.Fatalf("kustomize build %s: %v", folder, err)
	}
	var o objects
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if resource.GetKind() == "PodMonitor" {
			o.podMonitors = append(o.podMonitors, decodePodMonitor(t, string(text)))
			continue
		}
		object, _, err := decoder(t).Decode(text, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", folder, err, text)
		}
		o.all = append(o.all, object)
	}
	return o
}

// one returns the only object of a type.
func one[T runtime.Object](t *testing.T, o objects) T {
	t.Helper()
	var found []T
	for _, object := range o.all {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of %v, not one", len(found), reflect.TypeFor[T]())
	}
	return found[0]
}

// configMap returns the map with the name.
func configMap(t *testing.T, o objects, name string) *corev1.ConfigMap {
	t.Helper()
	for _, object := range o.all {
		if m, ok := object.(*corev1.ConfigMap); ok && m.Name == name {
			return m
		}
	}
	t.Fatalf("no ConfigMap %s", name)
	return nil
}

// TestKubernetesFiles decodes each file by itself, and compares the lists in the kustomizations with the directories: a
// file that is not listed would be forgotten.
func TestKubernetesFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(kubernetesDir, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		text := readFile(t, file)
		name := filepath.Base(file)
		if name == "kustomization.yaml" {
			continue // read by buildKustomization, strictly
		}
		if listed := readFile(t, filepath.Dir(file), "kustomization.yaml"); !strings.Contains(listed, "- "+name+"\n") {
			t.Errorf("%s is not in its kustomization", file)
		}
		if !strings.Contains(text, "apiVersion:") {
			continue // a definition
		}
		for doc := range strings.SplitSeq(text, "\n---\n") {
			if strings.Contains(doc, "kind: PodMonitor\n") {
				decodePodMonitor(t, doc)
			} else if _, _, err := decoder(t).Decode([]byte(doc), nil, nil); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if _, _, err := decoder(t).Decode([]byte("apiVersion: v1\nkind: Service\nspec: {port: [80]}\n"), nil, nil); err == nil {
		t.Error("the decoder lets a field through that a Service has not got")
	}
}

// TestKubernetes builds base and example, and checks that their objects fit together.
func TestKubernetes(t *testing.T) {
	for folder, host := range map[string]string{"base": "feeds.example.com", "example": "feeds.example.org"} {
		t.Run(folder, func(t *testing.T) {
			o := buildKustomization(t, folder)
			deployment := one[*appsv1.Deployment](t, o)
			pod := deployment.Spec.Template
			if len(pod.Spec.Containers) != 1 {
				t.Fatalf("%d containers", len(pod.Spec.Containers))
			}
			c := pod.Spec.Containers[0]

			t.Run("selectors", func(t *testing.T) {
				service, budget := one[*corev1.Service](t, o), one[*policyv1.PodDisruptionBudget](t, o)
				selectors := map[string]*metav1.LabelSelector{
					"Deployment": deployment.Spec.Selector,
					"Service":    {MatchLabels: service.Spec.Selector},
					"budget":     budget.Spec.Selector,
				}
				for i, spread := range pod.Spec.TopologySpreadConstraints {
					selectors[fmt.Sprintf("topology %d", i)] = spread.LabelSelector
				}
				for _, object := range o.all {
					if policy, ok := object.(*networkingv1.NetworkPolicy); ok {
						selectors["NetworkPolicy"] = &policy.Spec.PodSelector
						for _, rule := range policy.Spec.Ingress {
							for _, port := range rule.Ports {
								namedPort(t, c, *port.Port)
							}
						}
					}
				}
				for who, selector := range selectors {
					s, err := metav1.LabelSelectorAsSelector(selector)
					if err != nil || s.Empty() || !s.Matches(labels.Set(pod.Labels)) {
						t.Errorf("the selector of %s, %v, does not match the pod's labels %v: %v", who, s, pod.Labels, err)
					}
				}
			})
			t.Run("ports", func(t *testing.T) { checkPorts(t, o, c, host) })
			t.Run("scaling", func(t *testing.T) {
				scaler := one[*autoscalingv2.HorizontalPodAutoscaler](t, o)
				target := scaler.Spec.ScaleTargetRef
				if target.Kind != "Deployment" || target.APIVersion != "apps/v1" || target.Name != deployment.Name {
					t.Errorf("the autoscaler is for %+v", target)
				}
				if *scaler.Spec.MinReplicas < 2 || deployment.Spec.Replicas != nil {
					t.Error("fewer than 2 replicas, or a number of them that undoes the autoscaler's")
				}
				if rolling := deployment.Spec.Strategy.RollingUpdate; rolling.MaxUnavailable.IntValue() != 0 || rolling.MaxSurge.IntValue() < 1 {
					t.Errorf("a rolling update with %v", rolling)
				}
				for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
					request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
					if request.IsZero() || limit.Cmp(request) < 0 {
						t.Errorf("%s: request %v, limit %v", name, &request, &limit)
					}
				}
			})
			t.Run("hardening", func(t *testing.T) { checkHardening(t, pod.Spec, c) })
			t.Run("definitions", func(t *testing.T) { checkDefinitions(t, o, pod.Spec, c, folder, host) })
			t.Run("flags", func(t *testing.T) {
				checkServeArguments(t, c.Args)
				for _, from := range c.EnvFrom {
					settings := configMap(t, o, from.ConfigMapRef.Name)
					for name := range settings.Data {
						checkServeVariable(t, name)
					}
					if got := settings.Data["SIGNPOST_ALLOWED_HOST"]; got != host {
						t.Errorf("allowed host %q, but the Ingress is for %q", got, host)
					}
				}
				grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
				delay, timeout := flagDuration(t, c.Args, "--shutdown-delay"), flagDuration(t, c.Args, "--shutdown-timeout")
				if delay == 0 || grace <= delay+timeout {
					t.Errorf("killed after %v, but it takes up to %v and %v to shut down", grace, delay, timeout)
				}
			})
		})
	}
}

// TestTwoInstances turns the example into a second instance in the same namespace, following its comments. The two have
// no name in common, and neither selects pods of the other.
func TestTwoInstances(t *testing.T) {
	dir := copyKubernetes(t)
	file := filepath.Join(dir, "example", "kustomization.yaml")
	uncommented := regexp.MustCompile(`(?m)^# (namePrefix|labels|components):`).ReplaceAllString(readFile(t, file), "$1:")
	uncommented = regexp.MustCompile(`(?m)^#   `).ReplaceAllString(uncommented, "  ")
	writeFile(t, file, uncommented)
	films := buildIn(t, dir, "example")
	// The first instance is the base with the PodMonitor.
	writeFile(t, filepath.Join(dir, "first", "kustomization.yaml"), "resources: [../base]\ncomponents: [../podmonitor]\nnamespace: feeds\n")
	first := buildIn(t, dir, "first")

	names := make(map[string]bool)
	selectors := func(o objects) map[string]labels.Selector {
		all := make(map[string]labels.Selector)
		add := func(who string, selector *metav1.LabelSelector) {
			s, err := metav1.LabelSelectorAsSelector(selector)
			if err != nil || s.Empty() {
				t.Fatalf("the selector of %s: %v, %v", who, s, err)
			}
			all[who] = s
		}
		for _, object := range o.all {
			meta := object.(metav1.Object)
			id := fmt.Sprintf("%T %s", object, meta.GetName())
			if names[id] {
				t.Errorf("both have a %s", id)
			}
			names[id] = true
			if meta.GetNamespace() != "feeds" {
				t.Errorf("%s is in the namespace %q", id, meta.GetNamespace())
			}
			switch o := object.(type) {
			case *appsv1.Deployment:
				add("Deployment", o.Spec.Selector)
				for i, spread := range o.Spec.Template.Spec.TopologySpreadConstraints {
					add(fmt.Sprintf("topology %d", i), spread.LabelSelector)
				}
			case *corev1.Service:
				add("Service", &metav1.LabelSelector{MatchLabels: o.Spec.Selector})
			case *policyv1.PodDisruptionBudget:
				add("budget", o.Spec.Selector)
			case *networkingv1.NetworkPolicy:
				add("NetworkPolicy", &o.Spec.PodSelector)
			}
		}
		if len(o.podMonitors) != 1 {
			t.Fatalf("%d PodMonitors", len(o.podMonitors))
		}
		m := o.podMonitors[0]
		add("PodMonitor", &m.Spec.Selector)
		if names[m.Name] {
			t.Errorf("both have a PodMonitor %s", m.Name)
		}
		names[m.Name] = true
		return all
	}
	pods := func(o objects) labels.Set { return one[*appsv1.Deployment](t, o).Spec.Template.Labels }
	for who, s := range selectors(films) {
		if !s.Matches(pods(films)) || s.Matches(pods(first)) {
			t.Errorf("%s of films selects %v", who, s)
		}
	}
	for who, s := range selectors(first) {
		if !s.Matches(pods(first)) || s.Matches(pods(films)) {
			t.Errorf("%s of the first instance selects %v", who, s)
		}
	}
	// References use the names with the prefix.
	scaler, ingress := one[*autoscalingv2.HorizontalPodAutoscaler](t, films), one[*networkingv1.Ingress](t, films)
	deployment, service := one[*appsv1.Deployment](t, films), one[*corev1.Service](t, films)
	if scaler.Spec.ScaleTargetRef.Name != deployment.Name || ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name != service.Name {
		t.Errorf("the autoscaler is for %s, and the Ingress leads to %v", scaler.Spec.ScaleTargetRef.Name, ingress.Spec.Rules[0].HTTP.Paths)
	}
	configMap(t, films, deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Name)
	configMap(t, films, deployment.Spec.Template.Spec.Containers[0].EnvFrom[0].ConfigMapRef.Name)

	// The PodMonitor scrapes the admin port, under the job name in the alerts.
	m, c := films.podMonitors[0], deployment.Spec.Template.Spec.Containers[0]
	endpoint := m.Spec.PodMetricsEndpoints[0]
	port := namedPort(t, c, intstr.FromString(endpoint.Port))
	if fmt.Sprintf(":%d", port.ContainerPort) != flagValue(t, c.Args, "--admin-listen") || endpoint.Path != "/metrics" {
		t.Errorf("the PodMonitor scrapes %v", endpoint)
	}
	if job := pods(films)[m.Spec.JobLabel]; job != alertsJob(t) {
		t.Errorf("the job is %q, and the alerts are for %q", job, alertsJob(t))
	}
	for _, label := range m.Spec.PodTargetLabels {
		if pods(films)[label] == "" || !strings.Contains(readFile(t, prometheusDir, "alerts.yml"), regexp.MustCompile(`[^a-z]`).ReplaceAllString(label, "_")) {
			t.Errorf("the alerts do not use %s", label)
		}
	}
}

// namedPort returns the container's port with a name or number.
func namedPort(t *testing.T, c corev1.Container, port intstr.IntOrString) corev1.ContainerPort {
	t.Helper()
	for _, p := range c.Ports {
		if p.Name == port.StrVal || p.ContainerPort == port.IntVal {
			return p
		}
	}
	t.Fatalf("the container has no port %s", port.String())
	return corev1.ContainerPort{}
}

// checkPorts follows a request: Ingress, Service, container, --listen. The admin port must not be exposed that way.
func checkPorts(t *testing.T, o objects, c corev1.Container, host string) {
	service, ingress := one[*corev1.Service](t, o), one[*networkingv1.Ingress](t, o)
	for _, port := range service.Spec.Ports {
		target := namedPort(t, c, port.TargetPort)
		if want := fmt.Sprintf(":%d", target.ContainerPort); flagValue(t, c.Args, "--listen") != want {
			t.Errorf("the Service leads to %s, where Signpost does not listen for manifests", want)
		}
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		name := "/healthz"
		if probe == c.ReadinessProbe {
			name = "/readyz"
		}
		port := namedPort(t, c, probe.HTTPGet.Port)
		if probe.HTTPGet.Path != name || fmt.Sprintf(":%d", port.ContainerPort) != flagValue(t, c.Args, "--admin-listen") {
			t.Errorf("the probe for %s asks %s at %v", name, probe.HTTPGet.Path, port)
		}
	}
	// A registry that hangs keeps the listeners closed for a minute.
	if patience := c.StartupProbe.PeriodSeconds * c.StartupProbe.FailureThreshold; patience < 90 {
		t.Errorf("a pod is killed if it has not started after %d s", patience)
	}
	for _, rule := range ingress.Spec.Rules {
		if rule.Host != host || !slices.Contains(ingress.Spec.TLS[0].Hosts, host) || ingress.Spec.TLS[0].SecretName == "" {
			t.Errorf("the Ingress is for %s with TLS for %v", rule.Host, ingress.Spec.TLS)
		}
		for _, path := range rule.HTTP.Paths {
			backend := path.Backend.Service
			known := func(p corev1.ServicePort) bool { return p.Name == backend.Port.Name }
			if backend.Name != service.Name || !slices.ContainsFunc(service.Spec.Ports, known) {
				t.Errorf("the Ingress leads to %v", backend)
			}
		}
	}
	admin := strings.TrimPrefix(flagValue(t, c.Args, "--admin-listen"), ":")
	if got := one[*appsv1.Deployment](t, o).Spec.Template.Annotations["prometheus.io/port"]; got != admin {
		t.Errorf("Prometheus is sent to port %q, not %s", got, admin)
	}
}

func checkHardening(t *testing.T, pod corev1.PodSpec, c corev1.Container) {
	yes := func(b *bool) bool { return b != nil && *b }
	no := func(b *bool) bool { return b != nil && !*b }
	user := strings.Split(only(t, dockerStages(t)[1], "USER"), ":")[0]
	for what, holds := range map[string]bool{
		"not root":                   yes(pod.SecurityContext.RunAsNonRoot),
		"the user of the image":      fmt.Sprint(*pod.SecurityContext.RunAsUser) == user,
		"the runtime's seccomp":      pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no service account token":   no(pod.AutomountServiceAccountToken),
		"no SIGNPOST_ service links": no(pod.EnableServiceLinks),
		"no more privileges":         no(c.SecurityContext.AllowPrivilegeEscalation),
		"a root that is read-only":   yes(c.SecurityContext.ReadOnlyRootFilesystem),
		"no capabilities": slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) &&
			len(c.SecurityContext.Capabilities.Add) == 0,
	} {
		if !holds {
			t.Errorf("missing: %s", what)
		}
	}
}

// checkDefinitions compares the mounted ConfigMap with the directory that serve is given, and lints it.
func checkDefinitions(t *testing.T, o objects, pod corev1.PodSpec, c corev1.Container, folder, host string) {
	mount, volume := c.VolumeMounts[0], pod.Volumes[0]
	if mount.Name != volume.Name || mount.SubPath != "" || mount.SubPathExpr != "" || !mount.ReadOnly {
		t.Errorf("%v is not the folder of %s, read-only and without subPath", mount, volume.Name)
	}
	if !slices.Contains(c.Args, mount.MountPath) {
		t.Errorf("serve is not given %s", mount.MountPath)
	}
	if len(volume.ConfigMap.Items) > 0 {
		t.Error("the ConfigMap is mounted in part")
	}
	definitions := configMap(t, o, volume.ConfigMap.Name)
	if len(definitions.Data) == 0 {
		t.Error("no definitions")
	}
	// With a hash suffix in the name, running pods would keep the ConfigMap that they started with.
	if definitions.Name != "signpost-definitions" {
		t.Errorf("the definitions are in %s", definitions.Name)
	}
	dir := mountConfigMap(t, definitions.Data)
	listen, _, _ := startSignpost(t, nil, dir)
	for name, text := range definitions.Data {
		if got := readFile(t, kubernetesDir, folder, name); got != text {
			t.Errorf("%s is not the file in %s", name, folder)
		}
		base := regexp.MustCompile(`(?m)^base_path: (\S+)`).FindStringSubmatch(text)
		path := manifestPath
		if base != nil {
			path = base[1] + path
		}
		if status, body := get(t, "http://"+listen+path, "Host", host); status != 200 || !strings.Contains(body, "https://"+host+"/") {
			t.Errorf("%s: %d\n%s", path, status, body)
		}
	}
}

// mountConfigMap creates a directory as the kubelet does: the files are links into ..data, which is a link to a
// directory that never changes.
func mountConfigMap(t *testing.T, data map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name := range data {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	swapConfigMap(t, dir, data)
	return dir
}

// swapConfigMap updates such a directory as the kubelet does: it creates a new directory and then replaces ..data
// atomically.
func swapConfigMap(t *testing.T, dir string, data map[string]string) {
	t.Helper()
	fresh, err := os.MkdirTemp(dir, "..2026_01_01_")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range data {
		writeFile(t, filepath.Join(fresh, name), text)
	}
	link := filepath.Join(dir, "..data")
	old, _ := os.Readlink(link)
	if err := os.Symlink(filepath.Base(fresh), link+"_tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+"_tmp", link); err != nil {
		t.Fatal(err)
	}
	if old != "" {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPod runs Signpost with the arguments of the Deployment: the probes respond, a new ConfigMap is loaded, a bad one
// is rejected, and after SIGTERM it keeps serving, not ready, until the Service has drained it.
func TestPod(t *testing.T) {
	o := buildKustomization(t, "base")
	spec := one[*appsv1.Deployment](t, o).Spec.Template.Spec
	c := spec.Containers[0]
	dir := mountConfigMap(t, map[string]string{"feeds.yaml": feeds("One")})
	var args []string
	for _, arg := range c.Args[1:] {
		arg = strings.ReplaceAll(arg, c.VolumeMounts[0].MountPath, dir)
		arg = strings.ReplaceAll(arg, "--shutdown-delay=5s", "--shutdown-delay=1s")
		if !strings.HasPrefix(arg, "--listen=") && !strings.HasPrefix(arg, "--admin-listen=") {
			args = append(args, arg)
		}
	}
	listen, admin, p := startSignpost(t, []string{"SIGNPOST_ALLOWED_HOST=feeds.example.com"}, args...)
	address := "http://" + listen + manifestPath
	served := func() string {
		_, body := get(t, address, "Host", "feeds.example.com")
		return body
	}
	probe := func(p *corev1.Probe) int {
		status, _ := get(t, "http://"+admin+p.HTTPGet.Path)
		return status
	}
	if live, ready := probe(c.LivenessProbe), probe(c.ReadinessProbe); live != 200 || ready != 200 {
		t.Errorf("live %d, ready %d", live, ready)
	}
	if got, want := served(), manifest("feeds.example.com", "One"); got != want {
		t.Fatalf("served:\n%s\nnot\n%s", got, want)
	}
	if status, _ := get(t, address, "Host", "evil.example"); status != 421 {
		t.Errorf("a host that is not allowed: %d", status)
	}
	swapConfigMap(t, dir, map[string]string{"feeds.yaml": feeds("Two")})
	eventually(t, "the new ConfigMap is served", func() bool { return served() == manifest("feeds.example.com", "Two") })
	swapConfigMap(t, dir, map[string]string{"feeds.yaml": strings.Replace(feeds("Three"), "get", "GET", 1)})
	eventually(t, "the bad ConfigMap is rejected", func() bool { return strings.Contains(p.log.String(), "definition rejected") })
	if got, want := served(), manifest("feeds.example.com", "Two"); got != want {
		t.Errorf("after a bad one:\n%s\nnot\n%s", got, want)
	}

	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not ready", func() bool { return probe(c.ReadinessProbe) == 503 })
	if live, got := probe(c.LivenessProbe), served(); live != 200 || got == "" {
		t.Errorf("while it shuts down: live %d, served %q", live, got)
	}
	select {
	case <-p.done:
	case <-time.After(time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second):
		t.Fatal("it has not ended")
	}
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// TestKubernetesRegistry builds the variant that serves from a registry: it has the flags of the base, the artifact
// instead of the directory, and nothing of the ConfigMap.
func TestKubernetesRegistry(t *testing.T) {
	pod := one[*appsv1.Deployment](t, buildKustomization(t, "registry")).Spec.Template.Spec
	c := pod.Containers[0]
	base := one[*appsv1.Deployment](t, buildKustomization(t, "base")).Spec.Template.Spec.Containers[0]
	if want := slices.Replace(slices.Clone(base.Args), 7, 8, "oci://oci.example.com/feeds:prod", "--definition-cache=/cache"); !slices.Equal(c.Args, want) {
		t.Errorf("args are %q, not %q", c.Args, want)
	}
	mounts := make(map[string]string)
	for _, m := range c.VolumeMounts {
		mounts[m.MountPath] = m.Name
	}
	docker := ""
	for _, env := range c.Env {
		if env.Name == "DOCKER_CONFIG" {
			docker = env.Value
		}
	}
	for _, object := range buildKustomization(t, "registry").all {
		if m, ok := object.(*corev1.ConfigMap); ok && m.Name == "signpost-definitions" {
			t.Error("there still is a ConfigMap with definitions")
		}
	}
	for _, v := range pod.Volumes {
		switch {
		case v.ConfigMap != nil:
			t.Error("the ConfigMap is still mounted")
		case v.Secret != nil && (mounts[docker] != v.Name || v.Secret.Items[0].Path != "config.json"):
			t.Errorf("the credentials are not at %s/config.json", docker)
		case v.EmptyDir != nil && mounts["/cache"] != v.Name:
			t.Error("the cache cannot be written")
		}
	}
}
