import { z } from "zod";
import { assertArchitecture, assertPlaceName, parseMaasUrl } from "../../../adapters/maas/names.ts";
import { type AddressRange, createAddressFilter, parseAddressRange } from "../../config/address-range.ts";
import type { ConfigOf } from "../../config/config-of.ts";
import { assertByAdapter } from "../../config/schema-rules.ts";
import { addressesFrom, maxAddresses } from "./addresses/address-list.ts";

const path = z.string().min(1).max(4095);
const imageName = z.string().max(512);
const minutes = z.int().min(1).max(1440);

const maas = z.strictObject({
  url: z
    .string()
    .superRefine((url, context) =>
      assertByAdapter(() => void parseMaasUrl(url, "url"), context, "a MAAS URL"),
    )
    .meta({ description: "URL of the MAAS region, such as http://maas:5240/MAAS." }),
  apiKeyFile: path.meta({
    description:
      "File with the API key of a dedicated account, which need not be an administrator. Gateways may share an account only if they share a store.",
  }),
  caFile: path.exactOptional().meta({
    description: "PEM file with a certificate to trust for https instead of the default ones.",
  }),
  eraseDisks: z.enum(["quick", "full"]).exactOptional().meta({
    description:
      "How MAAS erases the disks of a machine when it is released: `quick` overwrites the partition tables, `full` everything, which may take hours. MAAS's own setting if absent.",
  }),
});

const cni = z
  .strictObject({
    manifest: path.exactOptional().meta({
      description:
        "File on this host with the manifest. It is read when the gateway starts, and applied to every new cluster.",
    }),
    path: z
      .string()
      .max(4095)
      .regex(/^\/[^\0]*$/, { error: "expected a path that begins with /" })
      .exactOptional()
      .meta({ description: "File with the manifest in the machine images." }),
  })
  .superRefine((source, context) => {
    if ((source.manifest === undefined) === (source.path === undefined)) {
      context.addIssue({ code: "custom", message: "expected one of manifest and path" });
    }
  });

const addresses = z
  .array(
    z.string().superRefine((text, context) => {
      if (addressesFrom(text) === undefined) {
        const message = `expected an IP address, or an IPv4 range such as 10.20.0.200-10.20.0.250, of at most ${maxAddresses}`;
        context.addIssue({ code: "custom", message });
      }
    }),
  )
  .min(1)
  .superRefine((texts, context) => {
    const all = texts.flatMap((text) => addressesFrom(text) ?? []);
    if (all.length > maxAddresses) {
      context.addIssue({ code: "custom", message: `expected at most ${maxAddresses} addresses in total` });
    }
    const twice = all.find((address, index) => all.indexOf(address) !== index);
    if (twice !== undefined) {
      context.addIssue({ code: "custom", message: `expected each address once, found ${twice} twice` });
    }
  });

const endpoint = z.strictObject({
  addresses: addresses.meta({
    description:
      "IP addresses, one for the API servers of each cluster: single ones and ranges. They must be unused addresses in a subnet of the machines, outside the ranges that MAAS assigns itself.",
    examples: [["10.20.0.200-10.20.0.250"]],
  }),
  kubeVipImage: imageName
    .regex(/^[\w][\w./:@-]*$/, {
      error: "expected the name of an image, such as ghcr.io/kube-vip/kube-vip:v1.0.1",
    })
    .meta({
      description:
        "Image of kube-vip (0.9 or newer), which assigns the address to a control plane machine. The machine images must contain it unless `imageRepository` is set.",
    }),
});

/** Allowed prefix lengths: what kubeadm and the API server accept when a node's pod network has 24 bits (64 for IPv6). */
const prefixes = {
  podSubnet: { ipv4: [8, 24], ipv6: [48, 64] },
  serviceSubnet: { ipv4: [12, 28], ipv6: [108, 124] },
} as const;

const subnet = (name: keyof typeof prefixes) =>
  z.string().superRefine((text, context) => {
    const range = parseAddressRange(text);
    if (typeof range === "string") {
      context.addIssue({ code: "custom", message: range });
      return;
    }
    const [shortest, longest] = prefixes[name][range.family];
    if (range.prefixLength < shortest || range.prefixLength > longest) {
      context.addIssue({ code: "custom", message: `expected a prefix of ${shortest} to ${longest} bits` });
    }
  });

const network = z
  .strictObject({
    podSubnet: subnet("podSubnet")
      .default("10.244.0.0/16")
      .meta({ description: "Addresses of pods. The manifest of `cni` must use the same." }),
    serviceSubnet: subnet("serviceSubnet")
      .default("10.96.0.0/12")
      .meta({ description: "Addresses of services." }),
    dnsDomain: z
      .string()
      .max(200)
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/, {
        error: "expected a lower-case DNS name",
      })
      .default("cluster.local")
      .meta({ description: "Domain of a cluster's own names." }),
  })
  .superRefine(({ podSubnet, serviceSubnet }, context) => {
    const pods = parseAddressRange(podSubnet);
    const services = parseAddressRange(serviceSubnet);
    if (typeof pods === "string" || typeof services === "string") {
      return;
    }
    if (pods.family !== services.family) {
      context.addIssue({
        code: "custom",
        path: ["serviceSubnet"],
        message: "expected the same address family as podSubnet",
      });
    } else if (areOverlapping(pods, services)) {
      context.addIssue({
        code: "custom",
        path: ["serviceSubnet"],
        message: `expected a range that does not overlap with podSubnet (${podSubnet})`,
      });
    }
  });

const placeName = z
  .string()
  .superRefine((name, context) =>
    assertByAdapter(() => assertPlaceName(name, "name"), context, "a MAAS name"),
  );

const machines = z.strictObject({
  pool: placeName
    .exactOptional()
    .meta({ description: "Only machines of this resource pool. Any pool if absent." }),
  zone: placeName.exactOptional().meta({ description: "Only machines of this zone. Any zone if absent." }),
  minCpuCount: z
    .int()
    .min(1)
    .max(65_536)
    .exactOptional()
    .meta({ description: "Only machines with at least this many CPU threads." }),
  minMemoryMib: z
    .int()
    .min(1)
    .max(2 ** 30)
    .exactOptional()
    .meta({ description: "Only machines with at least this much RAM, in MiB." }),
  architecture: z
    .string()
    .superRefine((name, context) =>
      assertByAdapter(() => assertArchitecture(name, "architecture"), context, "a MAAS architecture"),
    )
    .exactOptional()
    .meta({
      description:
        "Only machines of this architecture, such as amd64 or amd64/generic. Any architecture if absent.",
    }),
});

/** The key `clusters`. */
export const clustersSchema = z
  .strictObject({
    maas: maas.meta({ description: "The MAAS that provides the machines of clusters." }),
    cni: cni.meta({
      description:
        "Manifest of the pod network plugin, such as Flannel or Calico. Nodes do not become ready without one. Either `manifest` or `path`.",
    }),
    endpoint: endpoint.exactOptional().meta({
      description:
        "Fixed addresses of clusters. Without them a cluster is reached at the address of its first machine, its control plane has only one machine, and it cannot be upgraded.",
    }),
    network: network.prefault({}).meta({
      description:
        "Networks inside each cluster. They must not overlap with networks that its machines need to reach.",
    }),
    imageRepository: imageName
      .regex(/^[a-z0-9][\w./:-]*[\w]$/, {
        error: "expected a registry with a path, such as registry.example.org/k8s",
      })
      .exactOptional()
      .meta({
        description:
          "Registry that machines pull the Kubernetes images from. If absent, the machine images must contain them all, and nothing is pulled.",
      }),
    machines: machines
      .prefault({})
      .meta({ description: "Requirements for all machines, in addition to the tag of their type." }),
    deployTimeoutMinutes: minutes.default(45).meta({
      description: "How long MAAS may take to install a machine before another is tried, in minutes.",
    }),
    joinTimeoutMinutes: minutes.default(20).meta({
      description:
        "How long an installed machine may take to become a ready node before another is tried, in minutes.",
    }),
    drainTimeoutMinutes: minutes.default(10).meta({
      description: "How long draining a node may take before it is removed anyway, in minutes.",
    }),
    pollSeconds: z.number().min(0.1).max(600).default(10).meta({
      description:
        "How often machines in transition are polled, in seconds; idle clusters are polled at six times this interval.",
    }),
    leaseSeconds: z.number().min(1).max(600).default(30).meta({
      description:
        "Lease of a gateway on its clusters, in seconds. After it expires, another gateway takes them over. Must be the same for all gateways of a store.",
    }),
  })
  .superRefine(({ endpoint, network }, context) => {
    const all = (endpoint?.addresses ?? []).flatMap((text) => addressesFrom(text) ?? []);
    for (const name of ["podSubnet", "serviceSubnet"] as const) {
      const range = parseAddressRange(network[name]);
      const isInside = typeof range === "string" ? () => false : createAddressFilter([range]);
      const inside = all.find(isInside);
      if (inside !== undefined) {
        const message = `expected addresses outside network.${name} (${network[name]}), found ${inside}`;
        context.addIssue({ code: "custom", path: ["endpoint", "addresses"], message });
      }
    }
  });

function areOverlapping(one: AddressRange, other: AddressRange): boolean {
  return createAddressFilter([one])(other.network) || createAddressFilter([other])(one.network);
}

/** Settings of the domain. */
export type ClustersConfig = ConfigOf<typeof clustersSchema>;
