import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import {
  type ClusterImage,
  clusterImageFrom,
} from "../../../../../server/domains/clusters/bootstrap/image-name.ts";
import { formatKubernetesVersion } from "../../../../../server/domains/clusters/bootstrap/kubernetes-version.ts";

const image: ClusterImage = {
  os: "ubuntu-jammy",
  version: { major: 1, minor: 36, patch: 3 },
  instanceType: "gpu",
};

const numbers = { major: fc.nat(9), minor: fc.nat(99), patch: fc.nat(99) };
const images = fc.record<ClusterImage>(
  {
    os: fc.stringMatching(/^[a-z0-9]([a-z0-9._-]{0,20}[a-z0-9])?$/),
    version: fc.record(numbers, { noNullPrototype: true }),
    instanceType: fc.constantFrom("standard", "gpu"),
  },
  { noNullPrototype: true },
);

const nameOf = ({ os, version, instanceType }: ClusterImage) =>
  `os=${os},k8s=${formatKubernetesVersion(version)},${instanceType}`;

test("an image is recognized by its name, whatever the order of its parts", async (t) => {
  for (const name of [
    "os=ubuntu-jammy,k8s=1.36.3,gpu",
    "os=ubuntu-jammy,k8s=1.36.3,type=gpu",
    "type=gpu,k8s=1.36.3,os=ubuntu-jammy",
    "custom/os=ubuntu-jammy,k8s=1.36.3,gpu",
  ]) {
    t.same(clusterImageFrom(name), image, name);
  }
  fc.assert(
    fc.property(images, (each) => {
      return isDeepStrictEqual(clusterImageFrom(nameOf(each)), each);
    }),
  );
});

test("all other images are ignored", async (t) => {
  for (const name of [
    ...["", "ubuntu/jammy", "custom/", "os=ubuntu-jammy", "os=ubuntu-jammy,k8s=1.36.3", "gpu", ",,", "=,=,="],
    "os=ubuntu-jammy,k8s=1.36.3,large",
    "os=ubuntu-jammy,k8s=1.36.3,gpu,gpu",
    "os=ubuntu-jammy,k8s=1.36.3,type=gpu,",
    "os=ubuntu-jammy,k8s=1.36,gpu",
    "os=ubuntu-jammy,k8s=v1.36.3,gpu",
    "os=,k8s=1.36.3,gpu",
    "os=Ubuntu,k8s=1.36.3,gpu",
    "os=a b,k8s=1.36.3,gpu",
    "os=a,os=b,gpu",
    "os=a,k8s=1.36.3,flavour=gpu",
    "os=a,k8s=1.36.3,gpu\n",
    "__proto__=a,k8s=1.36.3,gpu",
  ]) {
    t.equal(clusterImageFrom(name), undefined, JSON.stringify(name));
  }
});

test("a recognized image formats to the parts of its name", async () => {
  const part = fc.oneof(
    fc.constantFrom("os=a", "k8s=1.36.3", "k8s=1.36", "gpu", "standard", "type=gpu", "type=", "custom/"),
    fc.string({ maxLength: 6 }),
  );
  const names = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(","));
  const partsOf = (name: string) =>
    name
      .replace(/^custom\//, "")
      .replace("type=", "")
      .split(",")
      .toSorted();
  fc.assert(
    fc.property(names, (name) => {
      const found = clusterImageFrom(name);
      return found === undefined || isDeepStrictEqual(partsOf(nameOf(found)), partsOf(name));
    }),
    { numRuns: 2000 },
  );
});
