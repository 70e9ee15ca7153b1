import { randomUUID } from "node:crypto";
import {
  badRequest,
  type FakeAnswer,
  type FakeRequest,
  jsonAnswer,
  methodMissing,
  notFound,
  objectFrom,
  statusAnswer,
} from "./answer.ts";
import type { FakeCluster, FakeSecret } from "./cluster.ts";
import { renderSecret } from "./render.ts";

const namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Answers requests to `…/secrets` and `…/secrets/NAME`. */
export function answerSecret(
  { secrets }: FakeCluster,
  request: FakeRequest,
  namespace = "",
  name?: string,
): FakeAnswer {
  const found = secrets.get(`${namespace}/${name}`);
  const missing = notFound("secrets", name ?? "");
  switch (request.method) {
    case "GET":
      return found === undefined ? missing : jsonAnswer(renderSecret(found));
    case "POST":
    case "PUT": {
      const secret = secretFrom(request, namespace);
      if ("status" in secret) {
        return secret;
      }
      return (request.method === "PUT") === (name !== undefined)
        ? write(secrets, secret, name)
        : methodMissing;
    }
    default:
      return methodMissing;
  }
}

function write(secrets: FakeCluster["secrets"], secret: FakeSecret, putName: string | undefined): FakeAnswer {
  const { namespace, name, type } = secret;
  const before = secrets.get(`${namespace}/${name}`);
  if (putName === undefined && !namespaces.includes(namespace)) {
    return notFound("namespaces", namespace);
  }
  if (putName !== undefined && putName !== name) {
    return badRequest(`the name of the object (${name}) does not match the name on the URL (${putName})`);
  }
  if (putName === undefined && before !== undefined) {
    return statusAnswer(409, "AlreadyExists", `secrets "${name}" already exists`, { name, kind: "secrets" });
  }
  if (putName !== undefined && before === undefined) {
    return notFound("secrets", name);
  }
  if (before !== undefined && before.type !== type) {
    const message = `Secret "${name}" is invalid: type: Invalid value: "${type}": field is immutable`;
    return statusAnswer(422, "Invalid", message, { name, kind: "Secret" });
  }
  secrets.set(`${namespace}/${name}`, { ...secret, uid: before?.uid ?? secret.uid });
  return jsonAnswer(renderSecret(secret), before === undefined ? 201 : 200);
}

function secretFrom(request: FakeRequest, inNamespace: string): FakeSecret | FakeAnswer {
  const object = objectFrom(request) as
    | {
        readonly kind?: string;
        readonly apiVersion?: string;
        readonly type?: string;
        readonly metadata?: { readonly name?: string; readonly namespace?: string };
        readonly data?: Readonly<Record<string, string>>;
        readonly stringData?: Readonly<Record<string, string>>;
      }
    | undefined;
  const { name, namespace = inNamespace } = object?.metadata ?? {};
  if (object?.kind !== "Secret" || object.apiVersion !== "v1" || name === undefined) {
    return badRequest("the body is no Secret with a name");
  }
  if (namespace !== inNamespace) {
    return badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
  const data = Object.entries(object.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
  return {
    namespace,
    name,
    uid: randomUUID(),
    type: object.type ?? "Opaque",
    data: { ...Object.fromEntries(data), ...object.stringData },
  };
}
