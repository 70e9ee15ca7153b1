import { z } from "zod";
import { assertArchitecture, assertPlaceName, parseMaasUrl } from "../../adapters/maas/names.ts";
import { addressesFrom, maxAddresses } from "./address-list.ts";
import { type AddressRange, createAddressFilter, parseAddressRange } from "./address-range.ts";
import { assertByAdapter } from "./schema-rules.ts";

const path = z.string().min(1).max(4095);
const imageName = z.string().max(512);
const minutes = z.int().min(1).max(1440);

const maas = z.strictObject({
  url: z
    .string()
    .superRefine((url, context) =>
      assertByAdapter(() => void parseMaasUrl(url, "url"), context, "the address of a MAAS"),
    )
    .meta({ description: "Address of the MAAS region, as http://maas:5240/MAAS." }),
  apiKeyFile: path.meta({
    description:
      "File with the API key of an account of its own, which need not be an administrator. Two gateways may share one only if they share a store.",
  }),
  caFile: path.exactOptional().meta({
    description: "File with a certificate (PEM) to trust for https instead of the usual ones.",
  }),
  eraseDisks: z.enum(["quick", "full"]).exactOptional().meta({
    description:
      "Has MAAS erase the disks of a machine when it is released: `quick` overwrites where their tables are, `full` everything, which may take hours. What MAAS itself is set to if absent.",
  }),
});

const cni = z
  .strictObject({
    manifest: path.exactOptional().meta({
      description:
        "File of this host with the manifest; every cluster is made with what is in it at the gateway's start.",
    }),
    path: z
      .string()
      .max(4095)
      .regex(/^\/[^\0]*$/, { error: "expected a path that begins with /" })
      .exactOptional()
      .meta({ description: "File with the manifest in the images of machines." }),
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
        const message = `expected an IP address, or a range of IPv4 such as 10.20.0.200-10.20.0.250, of at most ${maxAddresses}`;
        context.addIssue({ code: "custom", message });
      }
    }),
  )
  .min(1)
  .superRefine((texts, context) => {
    const all = texts.flatMap((text) => addressesFrom(text) ?? []);
    if (all.length > maxAddresses) {
      context.addIssue({ code: "custom", message: `expected at most ${maxAddresses} addresses in all` });
    }
    const twice = all.find((address, index) => all.indexOf(address) !== index);
    if (twice !== undefined) {
      context.addIssue({ code: "custom", message: `expected each address once, ${twice} is there twice` });
    }
  });

const endpoint = z.strictObject({
  addresses: addresses.meta({
    description:
      "IP addresses, one for the API servers of each cluster: single ones and ranges. They are in a subnet of the machines and free; what MAAS gives out by itself must not include them.",
    examples: [["10.20.0.200-10.20.0.250"]],
  }),
  kubeVipImage: imageName
    .regex(/^[\w][\w./:@-]*$/, {
      error: "expected the name of an image, such as ghcr.io/kube-vip/kube-vip:v1.0.1",
    })
    .meta({
      description:
        "Image of kube-vip (0.9 or newer), which holds the address on a machine of the control plane. It is in the images of machines unless `imageRepository` is set.",
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
      .meta({ description: "Addresses of pods. The manifest of `cni` has to have the same." }),
    serviceSubnet: subnet("serviceSubnet")
      .default("10.96.0.0/12")
      .meta({ description: "Addresses of services." }),
    dnsDomain: z
      .string()
      .max(200)
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/, {
        error: "expected a DNS name in small letters",
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
        message: "expected one of the same kind as podSubnet",
      });
    } else if (areOverlapping(pods, services)) {
      context.addIssue({
        code: "custom",
        path: ["serviceSubnet"],
        message: `expected one that does not overlap with podSubnet (${podSubnet})`,
      });
    }
  });

const placeName = z
  .string()
  .superRefine((name, context) =>
    assertByAdapter(() => assertPlaceName(name, "name"), context, "a name of MAAS"),
  );

const machines = z.strictObject({
  pool: placeName
    .exactOptional()
    .meta({ description: "Only machines of this resource pool. Of any if absent." }),
  zone: placeName.exactOptional().meta({ description: "Only machines of this zone. Of any if absent." }),
  minCpuCount: z
    .int()
    .min(1)
    .max(65_536)
    .exactOptional()
    .meta({ description: "Only machines with so many CPU threads." }),
  minMemoryMib: z
    .int()
    .min(1)
    .max(2 ** 30)
    .exactOptional()
    .meta({ description: "Only machines with so much RAM, in MiB." }),
  architecture: z
    .string()
    .superRefine((name, context) =>
      assertByAdapter(() => assertArchitecture(name, "architecture"), context, "an architecture of MAAS"),
    )
    .exactOptional()
    .meta({
      description: "Only machines of this architecture, as amd64 or amd64/generic. Of any if absent.",
    }),
});

/** The key `clusters`. */
export const clustersSchema = z
  .strictObject({
    maas: maas.meta({ description: "The MAAS whose machines clusters are made of." }),
    cni: cni.meta({
      description:
        "The manifest of the plugin that connects pods, such as Flannel or Calico: without one no node is ever ready. Either `manifest` or `path`.",
    }),
    endpoint: endpoint.exactOptional().meta({
      description:
        "Addresses of clusters' own. Without them a cluster is reached at its first machine, its control plane has no second one, and it cannot be upgraded.",
    }),
    network: network.prefault({}).meta({
      description:
        "Networks inside each cluster. They must not overlap with any that its machines have to reach.",
    }),
    imageRepository: imageName
      .regex(/^[a-z0-9][\w./:-]*[\w]$/, {
        error: "expected a registry with a path, such as registry.example.org/k8s",
      })
      .exactOptional()
      .meta({
        description:
          "Where machines fetch the images of Kubernetes from. If absent all are in the images of machines, and nothing is ever fetched.",
      }),
    machines: machines
      .prefault({})
      .meta({ description: "What all machines are like, besides the tag of their type." }),
    deployTimeoutMinutes: minutes.default(45).meta({
      description: "How long MAAS may take to install a machine before another is tried, in minutes.",
    }),
    joinTimeoutMinutes: minutes.default(20).meta({
      description:
        "How long a machine that is installed may take to be a ready node before another is tried, in minutes.",
    }),
    drainTimeoutMinutes: minutes.default(10).meta({
      description:
        "How long pods may take to leave a node before it goes without waiting for them, in minutes.",
    }),
    pollSeconds: z.number().min(0.1).max(600).default(10).meta({
      description:
        "How often a machine that is on its way is looked at, in seconds; clusters in which nothing happens are looked at every six times as long.",
    }),
    leaseSeconds: z.number().min(1).max(600).default(30).meta({
      description:
        "How long a gateway may be silent before another looks after its clusters, in seconds. The same for all gateways of a store.",
    }),
  })
  .superRefine(({ endpoint, network }, context) => {
    const all = (endpoint?.addresses ?? []).flatMap((text) => addressesFrom(text) ?? []);
    for (const name of ["podSubnet", "serviceSubnet"] as const) {
      const range = parseAddressRange(network[name]);
      const isInside = typeof range === "string" ? () => false : createAddressFilter([range]);
      const inside = all.find(isInside);
      if (inside !== undefined) {
        const message = `expected no address of network.${name} (${network[name]}), ${inside} is one`;
        context.addIssue({ code: "custom", path: ["endpoint", "addresses"], message });
      }
    }
  });

function areOverlapping(one: AddressRange, other: AddressRange): boolean {
  return createAddressFilter([one])(other.network) || createAddressFilter([other])(one.network);
}
