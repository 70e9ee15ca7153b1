import type { DescMethod } from "@bufbuild/protobuf";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import type { MethodRule } from "../../rpc/call/method-rule.ts";
import type { HttpRequest } from "../../rpc/protocols/http/http-exchange.ts";
import { matchPath } from "../../rpc/protocols/rest/match-path.ts";
import type { RestRoute } from "../../rpc/protocols/rest/routes.ts";
import { type Unservable, type WireForm, wireFormOf } from "./wire-form.ts";

/** The method that a request to a host calls. */
export interface Target {
  readonly method: DescMethod;
  readonly rule: MethodRule;
  /** False for a method that only the host may know. */
  readonly isInContract: boolean;
  /** Its protocol, or why no protocol carries it. */
  readonly wire: WireForm | Unservable;
}

export interface TargetsOptions {
  /** Every method of this gateway. */
  readonly routes: readonly {
    readonly method: DescMethod;
    readonly path: string;
    readonly rule: MethodRule;
  }[];
  /** The more specific of two routes comes first. */
  readonly restRoutes: readonly RestRoute[];
}

/** Finds the method that a request calls by its path; undefined for a page, an unknown method and any other path. */
export type FindTarget = (url: string, request: HttpRequest) => Target | undefined;

/** Names of methods that this gateway does not know. Longer ones are not found. */
const rpcPath = /^(?:\/api)?\/([A-Za-z_][\w.]{0,199})\/([A-Za-z_]\w{0,99})$/;

/** A host of a newer version may have methods that this gateway does not know: only an admin may call those. */
const unknownRule: MethodRule = {
  domain: "unknown",
  role: "admin",
  mutation: true,
  get: false,
  cache: false,
  secrets: true,
  secretAnswer: false,
  ofEveryService: false,
  hostBound: false,
  fleetWide: false,
  repeatable: false,
};

/** @param options each path of a method is also found below `/api` */
export function createFindTarget({ routes, restRoutes }: TargetsOptions): FindTarget {
  const byPath = new Map(
    routes.flatMap((route) => [route.path, `/api${route.path}`].map((path) => [path, route])),
  );
  const ruleOf = new Map(routes.map(({ method, rule }) => [method, rule]));

  function restTarget(path: string, request: HttpRequest): Target | undefined {
    if (/^application\/(?:grpc|connect\+)/.test(request.headers["content-type"] ?? "")) {
      return undefined;
    }
    const found = restRoutes.flatMap((route) => {
      const rule = ruleOf.get(route.method);
      return rule === undefined || matchPath(route.template, path) === undefined ? [] : [{ route, rule }];
    });
    const taken = found.find(({ route, rule }) => takesVerb(route, rule, request.method ?? ""));
    const [{ route, rule } = {}] = taken === undefined ? found : [taken];
    if (route === undefined || rule === undefined) {
      return undefined;
    }
    const allow = found.map((one) => one.route.httpMethod).join(", ");
    const wire =
      taken === undefined ? { status: 405 as const, allow } : ({ protocol: "rest", form: "plain" } as const);
    return { method: route.method, rule, isInContract: true, wire };
  }

  return (url, request) => {
    const [path = ""] = url.split("?", 1);
    const known = byPath.get(path);
    if (known !== undefined) {
      const { method, rule } = known;
      return { method, rule, isInContract: true, wire: wireFormOf(method, rule, request, true) };
    }
    return restTarget(path, request);
  };
}

/** Returns the method that a path in the form of an RPC's names, for a method that this gateway does not know. */
export function unknownTargetOf(url: string, request: HttpRequest): Target | undefined {
  const [path = ""] = url.split("?", 1);
  const [, service, name] = rpcPath.exec(path) ?? [];
  if (service === undefined || name === undefined) {
    return undefined;
  }
  const method = unknownMethod(service, name);
  const wire = wireFormOf(method, unknownRule, request, false);
  return { method, rule: unknownRule, isInContract: false, wire };
}

/** Describes a method that is known by name only. It is treated as a bidirectional stream, which allows any kind. */
function unknownMethod(service: string, name: string): DescMethod {
  const known = ServerReflection.method.serverReflectionInfo;
  return { ...known, name, parent: { ...known.parent, typeName: service } };
}

function takesVerb({ method, httpMethod }: RestRoute, rule: MethodRule, verb: string): boolean {
  const asked = verb === "HEAD" && method.methodKind === "unary" ? "GET" : verb;
  return httpMethod === "*"
    ? asked !== "OPTIONS" && !(asked === "GET" && rule.mutation)
    : asked === httpMethod;
}
