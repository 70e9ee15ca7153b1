import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import type { ClusterLogin } from "./cluster-login.ts";
import { orElse, orUndefined, text } from "./parse-objects.ts";
import { kubernetesReasons } from "./reasons.ts";

const optional = orUndefined(z.string());

const cluster = z.object({
  server: z.string().min(1),
  "certificate-authority": optional,
  "certificate-authority-data": optional,
  "insecure-skip-tls-verify": orElse(z.boolean(), false),
  "tls-server-name": optional,
  "proxy-url": optional,
});

const user = z.object({
  "client-certificate": optional,
  "client-certificate-data": optional,
  "client-key": optional,
  "client-key-data": optional,
  token: optional,
  tokenFile: optional,
  username: optional,
  password: optional,
  as: optional,
  "as-uid": optional,
  "as-groups": orElse(z.array(z.string()), []),
  exec: z.unknown().optional(),
  "auth-provider": z.unknown().optional(),
});

const context = z.object({ cluster: z.string(), user: text });

/** The parts of kubectl's configuration that the gateway uses (kubernetes.io/docs/reference/config-api/kubeconfig.v1). */
const kubeconfig = z.object({
  "current-context": text,
  clusters: orElse(z.array(z.object({ name: z.string(), cluster })), []),
  users: orElse(z.array(z.object({ name: z.string(), user: orElse(user, user.parse({})) })), []),
  contexts: orElse(z.array(z.object({ name: z.string(), context })), []),
});

/**
 * Reads a kubeconfig and the files that it names.
 * @param contextName the current context if undefined
 * @throws InfraError KUBERNETES_UNAVAILABLE if it cannot be read; KUBERNETES_DENIED if the context has no cluster or no
 *   user, or a user that the gateway does not accept
 */
export function readKubeconfig(path: string, contextName: string | undefined): ClusterLogin {
  const read = attempt(path, () => kubeconfig.parse(parse(readFileSync(path, "utf8"))));
  const name = contextName ?? read["current-context"];
  const chosen = read.contexts.find((each) => each.name === name)?.context;
  const server = read.clusters.find((each) => each.name === chosen?.cluster)?.cluster;
  const account = read.users.find((each) => each.name === chosen?.user);
  if (server === undefined || account === undefined) {
    throw denied(path, `has no context ${name || "(none is current)"} with a cluster and a user`);
  }
  // A program would run with the gateway's full environment, and without a timeout.
  if (account.user.exec || account.user["auth-provider"]) {
    throw denied(
      path,
      `has a user ${account.name} with a credential program (exec, auth-provider), which the gateway does not run: use a service account token or a client certificate`,
    );
  }
  if (server.server.startsWith("http:") && !server["insecure-skip-tls-verify"]) {
    throw denied(
      path,
      `has the server ${server.server} without TLS: set insecure-skip-tls-verify to allow that`,
    );
  }
  if (server["proxy-url"] && !/^(https?|socks5):/.test(server["proxy-url"])) {
    throw denied(path, "has a proxy-url that is not http://, https:// or socks5://");
  }
  return attempt(path, () => loginFrom(server, account, dirname(resolve(path))));
}

function loginFrom(
  server: z.infer<typeof cluster>,
  { name, user: of }: { readonly name: string; readonly user: z.infer<typeof user> },
  directory: string,
): ClusterLogin {
  const pem = (file: string | undefined, base64: string | undefined) =>
    base64
      ? Buffer.from(base64, "base64").toString()
      : file && readFileSync(resolve(directory, file), "utf8");
  return {
    server: server.server.replace(/\/$/, ""),
    user: name,
    tls: {
      ca: pem(server["certificate-authority"], server["certificate-authority-data"]),
      cert: pem(of["client-certificate"], of["client-certificate-data"]),
      key: pem(of["client-key"], of["client-key-data"]),
      servername: server["tls-server-name"],
      rejectUnauthorized: !server["insecure-skip-tls-verify"],
    },
    proxyUrl: server["proxy-url"],
    headers: headersOf(of),
    tokenPath: of.tokenFile && resolve(directory, of.tokenFile),
  };
}

function headersOf(of: z.infer<typeof user>): ClusterLogin["headers"] {
  const headers: Record<string, string | string[]> = {};
  if (of.token) {
    headers.authorization = `Bearer ${of.token}`;
  } else if (of.username) {
    headers.authorization = `Basic ${Buffer.from(`${of.username}:${of.password ?? ""}`).toString("base64")}`;
  }
  if (of.as) {
    headers["impersonate-user"] = of.as;
  }
  if (of["as-uid"]) {
    headers["impersonate-uid"] = of["as-uid"];
  }
  if (of["as-groups"].length > 0) {
    headers["impersonate-group"] = of["as-groups"];
  }
  return headers;
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const isFile = cause instanceof Error && "code" in cause && "syscall" in cause;
    const why = isFile ? String(cause.code) : "it is not a kubeconfig";
    throw new InfraError(
      kubernetesReasons.KUBERNETES_UNAVAILABLE,
      `The kubeconfig ${path} cannot be read: ${why}`,
      { cause },
    );
  }
}

function denied(path: string, what: string): InfraError {
  return new InfraError(kubernetesReasons.KUBERNETES_DENIED, `The kubeconfig ${path} ${what}`);
}
