import { type DescField, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http as httpOption } from "../../../../gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../../gen/google/api/http_pb.ts";
import { methodPathOf } from "../../call/method-rule.ts";
import { isSecret } from "../../call/secret-fields.ts";
import type { ServiceRegistration } from "../../call/service-handlers.ts";
import { fieldOf, fieldsOfPath } from "./field-path.ts";
import { compareTemplates } from "./match-path.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";
import { hasTextForm } from "./text-value.ts";

/** A route that calls a method by a plain HTTP request, as declared by `google.api.http` in the contract. */
export interface RestRoute {
  readonly method: DescMethod;
  /** In upper case; `*` means any. */
  readonly httpMethod: string;
  readonly template: PathTemplate;
  /** Content of a request's body: all fields that are not in the path, one field, or nothing. */
  readonly body: DescField | "*" | undefined;
  /** The field of the answer that the body contains; undefined for the whole message. */
  readonly responseField: DescField | undefined;
}

/**
 * Returns every REST route of the services, including additional bindings. Of two that match a path, the more specific one comes
 * first.
 * @throws TypeError for a declaration that cannot be served: an invalid template, a field that does not exist or cannot be there,
 * a stream of requests, or two routes for the same paths
 */
export function restRoutes(registrations: readonly ServiceRegistration[]): readonly RestRoute[] {
  const routes = registrations
    .flatMap(({ service }) => service.methods)
    .filter((method) => hasOption(method, httpOption))
    .flatMap((method) => {
      const rule = getOption(method, httpOption);
      return [rule, ...rule.additionalBindings].map((one) => routeFromRule(method, one));
    })
    .toSorted(compareRoutes);
  for (const [index, route] of routes.entries()) {
    const next = routes[index + 1];
    if (next !== undefined && compareRoutes(route, next) === 0) {
      const both = `${methodPathOf(route.method)} and ${methodPathOf(next.method)}`;
      throw new TypeError(`${both} have the same route ${route.httpMethod} ${route.template.text}`);
    }
  }
  return routes;
}

function compareRoutes(one: RestRoute, other: RestRoute): number {
  const byPath = compareTemplates(one.template, other.template);
  if (byPath !== 0 || one.httpMethod === other.httpMethod) {
    return byPath;
  }
  // `*` matches the methods that no other route has, so it comes last.
  return one.httpMethod > other.httpMethod ? -1 : 1;
}

function routeFromRule(method: DescMethod, rule: HttpRule): RestRoute {
  const fail = (what: string): never => {
    throw new TypeError(`${methodPathOf(method)}: google.api.http ${what}`);
  };
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming") {
    fail("needs a method with a single request message");
  }
  const [httpMethod, path] = patternOf(rule) ?? fail("has no path");
  if (httpMethod === "GET" && rule.body !== "") {
    fail("gives GET a body");
  }
  const template = parsePathTemplate(path);
  for (const { fieldPath } of template.variables) {
    const fields = fieldsOfPath(method.input, fieldPath) ?? [];
    const field = fields.at(-1);
    const hasPlace = field !== undefined && field.fieldKind !== "list" && hasTextForm(field);
    if (!hasPlace || fields.some(isSecret)) {
      fail(`cannot have ${fieldPath} in the path`);
    }
  }
  const named = (desc: DescMethod["input"], name: string) =>
    name === ""
      ? undefined
      : (fieldOf(desc, name) ?? fail(`names ${name}, which is not a field of ${desc.typeName}`));
  return {
    method,
    httpMethod,
    template,
    body: rule.body === "*" ? "*" : named(method.input, rule.body),
    responseField: named(method.output, rule.responseBody),
  };
}

function patternOf({ pattern }: HttpRule): readonly [httpMethod: string, path: string] | undefined {
  if (pattern.case === undefined) {
    return undefined;
  }
  return pattern.case === "custom"
    ? [pattern.value.kind.toUpperCase(), pattern.value.path]
    : [pattern.case.toUpperCase(), pattern.value];
}
