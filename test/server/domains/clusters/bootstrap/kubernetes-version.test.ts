import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  isSupportedVersion,
  type KubernetesVersion,
  kubeadmApiVersionOf,
  kubernetesVersionFrom,
  parseKubernetesVersion,
} from "../../../../../server/domains/clusters/bootstrap/kubernetes-version.ts";
import { violationOf } from "./violation-of.ts";

const versions = fc.record<KubernetesVersion>(
  { major: fc.nat(99_999), minor: fc.nat(99_999), patch: fc.nat(99_999) },
  { noNullPrototype: true },
);

const version = (text: string) => parseKubernetesVersion(text, "k8s_version");

test("a version is read with and without v, and written without", async (t) => {
  t.same(version("v1.36.3"), { major: 1, minor: 36, patch: 3 });
  fc.assert(
    fc.property(versions, fc.constantFrom("", "v"), (each, prefix) => {
      return isDeepStrictEqual(kubernetesVersionFrom(prefix + formatKubernetesVersion(each)), each);
    }),
  );
});

test("anything but a released version is rejected", async (t) => {
  for (const text of [
    ...["", "1", "1.36", "1.36.3.1", "V1.36.3", "vv1.36.3", "1.36.3-rc.1", "1.36.3+k3s1", "latest"],
    ...["01.36.3", "1.036.3", "1.36.03", "1.36.-3", " 1.36.3", "1.36.3\n", "1.36.123456", "1.36.3;reboot"],
  ]) {
    t.equal(kubernetesVersionFrom(text), undefined, JSON.stringify(text));
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      const read = kubernetesVersionFrom(text);
      return read === undefined || formatKubernetesVersion(read) === text.replace(/^v/, "");
    }),
  );
});

test("a request's version must be supported", async (t) => {
  t.equal(
    violationOf(() => version("latest")),
    "k8s_version: expected a version such as 1.36.3",
  );
  for (const text of ["1.13.5", "1.21.14", "2.0.0", "0.36.3"]) {
    t.match(
      violationOf(() => version(text)),
      /expected 1\.22\.0 or newer/,
      text,
    );
  }
  t.ok(isSupportedVersion(version("1.22.0")));
});

test("versions are compared numerically", async (t) => {
  const sorted = ["1.22.17", "1.36.3", "1.9.11", "1.36.10", "1.10.0"]
    .flatMap((text) => kubernetesVersionFrom(text) ?? [])
    .toSorted(compareKubernetesVersions);
  t.same(sorted.map(formatKubernetesVersion), ["1.9.11", "1.10.0", "1.22.17", "1.36.3", "1.36.10"]);
  t.equal(compareKubernetesVersions(version("1.36.3"), version("v1.36.3")), 0);
});

test("kubeadm's configuration has the newest API version that the version reads", async (t) => {
  for (const [text, api] of [
    ["1.22.0", "v1beta3"],
    ["1.30.14", "v1beta3"],
    ["1.31.0", "v1beta4"],
    ["1.36.3", "v1beta4"],
  ] as const) {
    t.equal(kubeadmApiVersionOf(version(text)), `kubeadm.k8s.io/${api}`, text);
  }
});
