import { createHash, X509Certificate } from "node:crypto";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";

/** The authorities whose keys a control plane machine gets, in PEM. */
export interface FakePki {
  readonly ca: FakeAuthority;
  readonly etcdCa: FakeAuthority;
}

export interface FakeAuthority {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface FakeEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Actions of a machine at its first boot. */
export type BootPlan = { readonly nodeName: string; readonly labels: Readonly<Record<string, string>> } & (
  | {
      readonly kind: "init";
      readonly clusterName: string;
      /** E.g. `1.36.3`. */
      readonly version: string;
      /** Undefined: the machine's own address. */
      readonly endpoint: FakeEndpoint | undefined;
      readonly certificateNames: readonly string[];
      readonly configuration: string;
      readonly tokens: readonly { readonly token: string; readonly ttlMs: number }[];
      readonly pki: FakePki;
    }
  | {
      readonly kind: "join";
      readonly endpoint: FakeEndpoint;
      readonly token: string;
      readonly caHashes: readonly string[];
      /** Undefined for a worker. */
      readonly pki: FakePki | undefined;
    }
);

const userDataSchema = z.object({
  write_files: z.array(
    z.object({ path: z.string(), content: z.string(), encoding: z.literal("b64").optional() }),
  ),
  runcmd: z.array(z.array(z.string())),
});

// The format of v1beta4, and the earlier one.
const extraArgs = z.union([
  z
    .array(z.object({ name: z.string(), value: z.string() }))
    .transform((args) => new Map(args.map(({ name, value }) => [name, value]))),
  z.record(z.string(), z.string()).transform((args) => new Map(Object.entries(args))),
]);
const nodeRegistration = z.object({ name: z.string(), kubeletExtraArgs: extraArgs });
const initSchema = z.object({
  nodeRegistration,
  bootstrapTokens: z.array(
    z.object({
      token: z.string().regex(/^[a-z0-9]{6}\.[a-z0-9]{16}$/),
      ttl: z.string().regex(/^[0-9]+s$/),
    }),
  ),
});
const clusterSchema = z.object({
  clusterName: z.string(),
  kubernetesVersion: z.string().regex(/^v\d+\.\d+\.\d+$/),
  controlPlaneEndpoint: z.string().nullish(),
  apiServer: z.object({ certSANs: z.array(z.string()) }),
});
const joinSchema = z.object({
  nodeRegistration,
  discovery: z.object({
    bootstrapToken: z.object({
      token: z.string(),
      apiServerEndpoint: z.string(),
      caCertHashes: z.array(z.string()),
    }),
  }),
  controlPlane: z.object({}).nullish(),
});

/**
 * Interprets user data as cloud-init and kubeadm would; undefined if it does not run kubeadm.
 * @throws Error when they would fail
 */
export function bootPlanFrom(userData: string): BootPlan | undefined {
  if (!userData.startsWith("#cloud-config\n")) {
    return undefined;
  }
  const { write_files, runcmd } = userDataSchema.parse(parse(userData));
  const files = new Map(
    write_files.map(({ path, content, encoding }) => [
      path,
      encoding === undefined ? content : Buffer.from(content, "base64").toString("utf8"),
    ]),
  );
  // The script runs kubeadm with this configuration.
  const [, , mode] = runcmd.find(([, script]) => script?.endsWith("/make-node.sh") === true) ?? [];
  if (mode === undefined) {
    return undefined;
  }
  const config = files.get("/etc/hostplane/kubeadm.yaml") ?? "";
  const documents = new Map(
    parseAllDocuments(config).map((document) => [String(document.get("kind")), document] as const),
  );
  const read = <T>(kind: string, schema: z.ZodType<T>): T => schema.parse(documents.get(kind)?.toJS());
  if (mode === "init") {
    const init = read("InitConfiguration", initSchema);
    const cluster = read("ClusterConfiguration", clusterSchema);
    return {
      kind: "init",
      ...nodeOf(init.nodeRegistration),
      clusterName: cluster.clusterName,
      version: cluster.kubernetesVersion.slice(1),
      endpoint: cluster.controlPlaneEndpoint ? endpointFrom(cluster.controlPlaneEndpoint) : undefined,
      certificateNames: cluster.apiServer.certSANs,
      configuration: documents.get("ClusterConfiguration")?.toString() ?? "",
      tokens: init.bootstrapTokens.map(({ token, ttl }) => ({
        token,
        ttlMs: Number.parseInt(ttl, 10) * 1000,
      })),
      pki: pkiFrom(files),
    };
  }
  const join = read("JoinConfiguration", joinSchema);
  const { token, apiServerEndpoint, caCertHashes } = join.discovery.bootstrapToken;
  return {
    kind: "join",
    ...nodeOf(join.nodeRegistration),
    endpoint: endpointFrom(apiServerEndpoint),
    token,
    caHashes: caCertHashes,
    pki: join.controlPlane === undefined || join.controlPlane === null ? undefined : pkiFrom(files),
  };
}

function nodeOf({ name, kubeletExtraArgs }: z.infer<typeof nodeRegistration>) {
  const pairs = (kubeletExtraArgs.get("node-labels") ?? "").split(",").filter((pair) => pair !== "");
  return {
    nodeName: name,
    labels: Object.fromEntries(pairs.map((pair) => pair.split("=") as [string, string])),
  };
}

function endpointFrom(text: string): FakeEndpoint {
  const { hostname, port } = new URL(`https://${text}`);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 443 : Number(port) };
}

/** @throws Error when a key is missing: kubeadm would create its own, or not join */
function pkiFrom(files: ReadonlyMap<string, string>): FakePki {
  const read = (name: string): string => {
    const content = files.get(`/etc/kubernetes/pki/${name}`);
    if (content === undefined) {
      throw new Error(`${name} is missing`);
    }
    return content;
  };
  const authority = (name: string) => ({ certificatePem: read(`${name}.crt`), keyPem: read(`${name}.key`) });
  authority("front-proxy-ca");
  read("sa.key");
  read("sa.pub");
  return { ca: authority("ca"), etcdCa: authority("etcd/ca") };
}

/** Returns the hash in the format of `discovery.bootstrapToken.caCertHashes`. */
export function caHashOf({ certificatePem }: FakeAuthority): string {
  const key = new X509Certificate(certificatePem).publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
