package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/intstr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"signpost/internal/testkit"
)

var kubernetesDir = filepath.Join(deployDir, "kubernetes")

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

func (m *podMonitor) DeepCopyObject() runtime.Object { return m }

// decoder knows the kinds that we use, and rejects unknown and duplicate fields.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, gatewayv1.Install,
	} {
		testkit.OK(t, add(scheme))
	}
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PodMonitor"}, &podMonitor{})
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

// copyKubernetes copies deploy/kubernetes to a directory outside the repository, as docs/operate.md says.
func copyKubernetes(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "my-signpost")
	testkit.OK(t, os.CopyFS(dir, os.DirFS(kubernetesDir)))
	return dir
}

// buildKustomization builds a directory like "kubectl apply -k".
func buildKustomization(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	return buildIn(t, filepath.Join(copyKubernetes(t), folder))
}

func buildIn(t *testing.T, dir string) (all []runtime.Object) {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", filepath.Base(dir), err)
	}
	for _, resource := range built.Resources() {
		text := testkit.Must(resource.AsYAML())(t)
		object, _, err := decoder(t).Decode(text, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(dir), err, text)
		}
		all = append(all, object)
	}
	return all
}

// one returns the only object of a type.
func one[T runtime.Object](t *testing.T, all []runtime.Object) T {
	t.Helper()
	var found []T
	for _, object := range all {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of %v, not one", len(found), reflect.TypeFor[T]())
	}
	return found[0]
}

// configMap returns the map with the name, or nil.
func configMap(all []runtime.Object, name string) *corev1.ConfigMap {
	for _, object := range all {
		if m, ok := object.(*corev1.ConfigMap); ok && m.Name == name {
			return m
		}
	}
	return nil
}

// selectors returns the selectors of all objects that have one.
func selectors(all []runtime.Object) map[string]*metav1.LabelSelector {
	found := make(map[string]*metav1.LabelSelector)
	for _, object := range all {
		switch o := object.(type) {
		case *appsv1.Deployment:
			found["Deployment"] = o.Spec.Selector
			for i, spread := range o.Spec.Template.Spec.TopologySpreadConstraints {
				found[fmt.Sprintf("topology %d", i)] = spread.LabelSelector
			}
		case *corev1.Service:
			found["Service"] = &metav1.LabelSelector{MatchLabels: o.Spec.Selector}
		case *policyv1.PodDisruptionBudget:
			found["budget"] = o.Spec.Selector
		case *networkingv1.NetworkPolicy:
			found["NetworkPolicy"] = &o.Spec.PodSelector
		case *podMonitor:
			found["PodMonitor"] = &o.Spec.Selector
		}
	}
	return found
}

// checkSelectors checks that all objects of an instance select its own pods, and none of another one.
func checkSelectors(t *testing.T, all []runtime.Object, own, other labels.Set) {
	t.Helper()
	for who, selector := range selectors(all) {
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || s.Empty() || !s.Matches(own) || other != nil && s.Matches(other) {
			t.Errorf("%s selects %v: %v", who, s, err)
		}
	}
}

// TestKubernetes builds the overlays, and checks that their objects fit together.
func TestKubernetes(t *testing.T) {
	for folder, host := range map[string]string{"base": "feeds.example.com", "example": "feeds.example.org", "gateway": "feeds.example.com"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			all := buildKustomization(t, folder)
			deployment := one[*appsv1.Deployment](t, all)
			pod := deployment.Spec.Template
			c := pod.Spec.Containers[0]
			checkSelectors(t, all, pod.Labels, nil)
			checkPorts(t, all, c)
			checkHardening(t, pod.Spec, c)
			checkShutdown(t, c.Args, time.Duration(*pod.Spec.TerminationGracePeriodSeconds)*time.Second)
			settings := configMap(all, c.EnvFrom[0].ConfigMapRef.Name)
			serveHelp(t, slices.Concat(c.Args, asFlags(settings.Data))...)
			if got := settings.Data["SIGNPOST_ALLOWED_HOST"]; got != host {
				t.Errorf("allowed host %q, not %q", got, host)
			}
			if scaler := one[*autoscalingv2.HorizontalPodAutoscaler](t, all); scaler.Spec.ScaleTargetRef.Name != deployment.Name || deployment.Spec.Replicas != nil {
				t.Errorf("the autoscaler is for %+v, and the Deployment sets %v replicas", scaler.Spec.ScaleTargetRef, deployment.Spec.Replicas)
			}
			checkDefinitions(t, all, host)
		})
	}
	if _, _, err := decoder(t).Decode([]byte("apiVersion: v1\nkind: Service\nspec: {port: [80]}\n"), nil, nil); err == nil {
		t.Error("the decoder accepts a field that a Service does not have")
	}
}

// checkPorts checks that the Service leads to the manifests, and the probes and Prometheus to the admin port.
func checkPorts(t *testing.T, all []runtime.Object, c corev1.Container) {
	t.Helper()
	for _, port := range one[*corev1.Service](t, all).Spec.Ports {
		if got := containerPort(t, c, port.TargetPort); got != flagValue(t, c.Args, "--listen") {
			t.Errorf("the Service leads to %s", got)
		}
	}
	admin := flagValue(t, c.Args, "--admin-listen")
	for probe, path := range map[*corev1.Probe]string{c.StartupProbe: "/healthz", c.LivenessProbe: "/healthz", c.ReadinessProbe: "/readyz"} {
		if got := containerPort(t, c, probe.HTTPGet.Port); got != admin || probe.HTTPGet.Path != path {
			t.Errorf("the probe for %s asks for %s at %s", path, probe.HTTPGet.Path, got)
		}
	}
	// A busy node is no reason to kill a pod.
	if patience := c.StartupProbe.PeriodSeconds * c.StartupProbe.FailureThreshold; patience < 90 {
		t.Errorf("a pod is killed if it has not started after %d s", patience)
	}
	if got := one[*appsv1.Deployment](t, all).Spec.Template.Annotations["prometheus.io/port"]; ":"+got != admin {
		t.Errorf("Prometheus is sent to port %q, not %s", got, admin)
	}
}

// containerPort returns the container's port with a name or number, in the form of --listen.
func containerPort(t *testing.T, c corev1.Container, port intstr.IntOrString) string {
	t.Helper()
	for _, p := range c.Ports {
		if p.Name == port.StrVal || p.ContainerPort == port.IntVal {
			return fmt.Sprintf(":%d", p.ContainerPort)
		}
	}
	t.Fatalf("the container has no port %s", port.String())
	return ""
}

func checkHardening(t *testing.T, pod corev1.PodSpec, c corev1.Container) {
	t.Helper()
	yes := func(b *bool) bool { return b != nil && *b }
	no := func(b *bool) bool { return b != nil && !*b }
	user := regexp.MustCompile(`(?m)^USER (\d+):`).FindStringSubmatch(readFile(t, deployDir, "Dockerfile"))[1]
	for what, holds := range map[string]bool{
		"not root":                   yes(pod.SecurityContext.RunAsNonRoot),
		"the user of the image":      fmt.Sprint(*pod.SecurityContext.RunAsUser) == user,
		"the runtime's seccomp":      pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no service account token":   no(pod.AutomountServiceAccountToken),
		"no SIGNPOST_ service links": no(pod.EnableServiceLinks),
		"no more privileges":         no(c.SecurityContext.AllowPrivilegeEscalation),
		"a root that is read-only":   yes(c.SecurityContext.ReadOnlyRootFilesystem),
		"no capabilities":            slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) && len(c.SecurityContext.Capabilities.Add) == 0,
	} {
		if !holds {
			t.Errorf("missing: %s", what)
		}
	}
}

// startPod runs Signpost with the arguments of a container, except for the addresses, and with files in its volume.
func startPod(t *testing.T, c corev1.Container, files map[string]string, host string) (listen, admin string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testkit.Write(t, filepath.Join(dir, name), text)
	}
	var args []string
	for _, arg := range c.Args[1:] {
		if !strings.HasPrefix(arg, "--listen=") && !strings.HasPrefix(arg, "--admin-listen=") && !strings.HasPrefix(arg, "--shutdown-delay=") {
			args = append(args, strings.ReplaceAll(arg, c.VolumeMounts[0].MountPath, dir))
		}
	}
	return startSignpost(t, []string{"SIGNPOST_ALLOWED_HOST=" + host}, args...)
}

// routes returns the host of the Ingress or HTTPRoute, and the Service to which each of its paths leads. A path that is a
// prefix has a * at its end.
func routes(all []runtime.Object, own corev1.ServicePort) (host string, to map[string]string) {
	to = make(map[string]string)
	add := func(exact bool, path, service string, port int32) {
		if !exact {
			path += "*"
		}
		to[path] = fmt.Sprintf("%s:%d", service, port)
	}
	for _, object := range all {
		switch o := object.(type) {
		case *networkingv1.Ingress:
			host = o.Spec.Rules[0].Host
			for _, path := range o.Spec.Rules[0].HTTP.Paths {
				backend := path.Backend.Service
				port := backend.Port.Number
				if backend.Port.Name == own.Name {
					port = own.Port
				}
				add(*path.PathType == networkingv1.PathTypeExact, path.Path, backend.Name, port)
			}
		case *gatewayv1.HTTPRoute:
			host = string(o.Spec.Hostnames[0])
			for _, rule := range o.Spec.Rules {
				for _, match := range rule.Matches {
					add(*match.Path.Type == gatewayv1.PathMatchExact, *match.Path.Value, string(rule.BackendRefs[0].Name), *rule.BackendRefs[0].Port)
				}
			}
		}
	}
	return host, to
}

// checkDefinitions runs the pod: its probes pass, and the front leads to every manifest that there is, and with all else
// to the feed service.
func checkDefinitions(t *testing.T, all []runtime.Object, host string) {
	t.Helper()
	pod := one[*appsv1.Deployment](t, all).Spec.Template.Spec
	c, volume := pod.Containers[0], pod.Volumes[0]
	mount := c.VolumeMounts[0]
	if mount.Name != volume.Name || mount.SubPath != "" || !mount.ReadOnly || !slices.Contains(c.Args, mount.MountPath) {
		t.Errorf("%v is not the directory of %s that serve is given, read-only and without subPath", mount, volume.Name)
	}
	// With a hash suffix in the name, running pods would keep the ConfigMap that they started with.
	definitions := configMap(all, "signpost-definitions")
	if definitions == nil || volume.ConfigMap.Name != definitions.Name {
		t.Fatalf("the definitions are in %s", volume.ConfigMap.Name)
	}
	listen, admin := startPod(t, c, definitions.Data, host)
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		if status, _ := get(t, "http://"+admin+probe.HTTPGet.Path); status != 200 {
			t.Errorf("%s: %d", probe.HTTPGet.Path, status)
		}
	}
	service := one[*corev1.Service](t, all)
	port := service.Spec.Ports[0]
	want := map[string]string{"/*": "feeds:3000"}
	_, list := get(t, "http://"+listen+"/nothing", "Host", host)
	for _, m := range regexp.MustCompile(`[/a-z0-9-]*/v\d+/endpoints-manifest`).FindAllString(list, -1) {
		want[m] = fmt.Sprintf("%s:%d", service.Name, port.Port)
		if status, body := get(t, "http://"+listen+m, "Host", host); status != 200 || !strings.Contains(body, "https://"+host+"/") {
			t.Errorf("%s: %d\n%s", m, status, body)
		}
		if status, _ := get(t, "http://"+listen+m, "Host", "evil.example"); status != 421 {
			t.Errorf("%s for a host that is not allowed: %d", m, status)
		}
	}
	if on, to := routes(all, port); on != host || len(want) == 1 || !maps.Equal(to, want) {
		t.Errorf("on %s the front leads to %v, want %v on %s", on, to, want, host)
	}
	for _, object := range all {
		if o, ok := object.(*networkingv1.Ingress); ok && (!slices.Contains(o.Spec.TLS[0].Hosts, host) || o.Spec.TLS[0].SecretName == "") {
			t.Errorf("the Ingress has TLS for %v", o.Spec.TLS)
		}
	}
}

// TestTwoInstances turns the example into a second instance in the same namespace, following its comments. The two have
// no name in common, and neither selects pods of the other.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	dir := copyKubernetes(t)
	file := filepath.Join(dir, "example", "kustomization.yaml")
	uncommented := regexp.MustCompile(`(?m)^# (namePrefix|labels|components):`).ReplaceAllString(readFile(t, file), "$1:")
	uncommented = regexp.MustCompile(`(?m)^#   `).ReplaceAllString(uncommented, "  ")
	testkit.Write(t, file, uncommented)
	films := buildIn(t, filepath.Join(dir, "example"))
	testkit.Write(t, filepath.Join(dir, "first", "kustomization.yaml"), "resources: [../base]\ncomponents: [../podmonitor]\nnamespace: feeds\n")
	first := buildIn(t, filepath.Join(dir, "first"))

	names := make(map[string]bool)
	for _, object := range slices.Concat(films, first) {
		meta := object.(metav1.Object)
		id := fmt.Sprintf("%T %s", object, meta.GetName())
		if names[id] || meta.GetNamespace() != "feeds" {
			t.Errorf("%s in the namespace %q", id, meta.GetNamespace())
		}
		names[id] = true
	}
	pods := func(all []runtime.Object) labels.Set { return one[*appsv1.Deployment](t, all).Spec.Template.Labels }
	checkSelectors(t, films, pods(films), pods(first))
	checkSelectors(t, first, pods(first), pods(films))

	// The PodMonitor scrapes the admin port, under the job name in the alerts.
	m, c := one[*podMonitor](t, films), one[*appsv1.Deployment](t, films).Spec.Template.Spec.Containers[0]
	endpoint := m.Spec.PodMetricsEndpoints[0]
	if got := containerPort(t, c, intstr.FromString(endpoint.Port)); got != flagValue(t, c.Args, "--admin-listen") || endpoint.Path != "/metrics" {
		t.Errorf("the PodMonitor scrapes %v", endpoint)
	}
	if job := pods(films)[m.Spec.JobLabel]; job != alertsJob(t) {
		t.Errorf("the job is %q, and the alerts are for %q", job, alertsJob(t))
	}
}

// TestKubernetesRegistry builds the variant that serves from a registry: it has the flags of the base, the artifact
// instead of the directory, and nothing of the ConfigMap.
func TestKubernetesRegistry(t *testing.T) {
	all := buildKustomization(t, "registry")
	pod := one[*appsv1.Deployment](t, all).Spec.Template.Spec
	c := pod.Containers[0]
	serveHelp(t, c.Args...)
	if !slices.Contains(c.Args, "oci://oci.example.com/feeds:prod") || slices.Contains(c.Args, "/definitions") || configMap(all, "signpost-definitions") != nil {
		t.Errorf("the arguments are %q", c.Args)
	}
	mounts := make(map[string]string)
	for _, m := range c.VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	for _, v := range pod.Volumes {
		switch {
		case v.ConfigMap != nil:
			t.Error("the ConfigMap is still mounted")
		case v.Secret != nil && (!slices.Contains(c.Env, corev1.EnvVar{Name: "DOCKER_CONFIG", Value: mounts[v.Name]}) || v.Secret.Items[0].Path != "config.json"):
			t.Error("DOCKER_CONFIG is not where the credentials are")
		case v.EmptyDir != nil && mounts[v.Name] != flagValue(t, c.Args, "--definition-cache"):
			t.Error("the cache cannot be written")
		}
	}
}
