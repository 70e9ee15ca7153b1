import type { JsonObject } from "@bufbuild/protobuf";
import { methodPathOf } from "../../rpc/call/method-rule.ts";
import type { DocumentedMethod } from "../../rpc/openapi/documented-method.ts";
import { exampleRequest } from "../../rpc/openapi/example-request.ts";
import type { RestRoute } from "../../rpc/protocols/rest/routes.ts";

/** A shell command that calls a method. It needs the variables GATEWAY (host and port, cleartext) and TOKEN. */
export interface ExampleCommand {
  readonly title: string;
  readonly command: string;
}

const lineBreak = " \\\n  ";

/** Returns the shell commands that call a method: curl in every form that the method supports, buf curl, and grpcurl. */
export function exampleCommands(
  documented: DocumentedMethod,
  restRoutes: readonly RestRoute[],
): readonly ExampleCommand[] {
  const { method, rule } = documented;
  const path = methodPathOf(method);
  const url = `http://$GATEWAY/${path}`;
  const login = rule.role === "anyone" ? [] : ['-H "authorization: Bearer $TOKEN"'];
  const json = JSON.stringify(exampleRequest(method));
  const data = `-d ${quoted(json)}`;
  const commands = [
    ...(method.methodKind === "bidi_streaming"
      ? []
      : [
          {
            title: "curl",
            command: curl(documented, [...login, "-H 'content-type: application/json'", data], url),
          },
        ]),
    ...(rule.get
      ? [
          {
            title: "curl, by GET",
            command: [
              "curl -s -G",
              ...login,
              "-d encoding=json",
              `--data-urlencode ${quoted(`message=${json}`)}`,
              url,
            ].join(lineBreak),
          },
        ]
      : []),
    ...restRoutes
      .filter((route) => route.method === method)
      .map((route) => ({ title: "curl, REST", command: restCommand(route, login) })),
  ];
  return [
    ...commands,
    { title: "buf curl", command: ["buf curl --http2-prior-knowledge", ...login, data, url].join(lineBreak) },
    { title: "grpcurl", command: ["grpcurl -plaintext", ...login, data, `$GATEWAY ${path}`].join(lineBreak) },
  ];
}

function curl({ method }: DocumentedMethod, args: readonly string[], url: string): string {
  return method.methodKind === "unary"
    ? ["curl -s", ...args, url].join(lineBreak)
    : ["curl -sN -H 'accept: text/event-stream'", ...args, url].join(lineBreak);
}

function restCommand({ method, httpMethod, template, body }: RestRoute, login: readonly string[]): string {
  const request = exampleRequest(method, { names: "contract" });
  const inPath = new Set(template.variables.map(({ fieldPath }) => fieldPath));
  const path = template.text.replace(/\{([^}=]+)[^}]*\}/g, (_all, name: string) =>
    String(request[name] ?? ""),
  );
  const bodyValue = body === "*" || body === undefined ? request : (request[body.name] ?? {});
  const query = body === "*" ? "" : queryOf(request, (name) => !inPath.has(name) && name !== body?.name);
  return [
    `curl -s -X ${httpMethod}`,
    ...login,
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(bodyValue))}`]),
    `"http://$GATEWAY${path}${query}"`,
  ].join(lineBreak);
}

function queryOf(request: JsonObject, isInQuery: (name: string) => boolean): string {
  const pairs = Object.entries(request)
    .filter(([name]) => isInQuery(name))
    .flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as [string, string]));
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

/** Quotes the text as one shell word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
