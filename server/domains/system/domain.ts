import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { SystemService } from "../../../gen/hostplane/v1/system_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";
import { systemReasons } from "./reasons.ts";

const open = { role: "anyone", mutation: false } as const;

/** The gateway itself: its facts, its backends, health and reflection. */
export const systemDomain = defineGatewayDomain({
  name: "system",
  services: [
    // The first call of a page, for any user who has logged in there.
    { service: SystemService, rules: { GetInfo: { ofEveryService: true } } },
    {
      service: Health,
      rules: {
        Check: { ...open, get: false, cache: false },
        List: { ...open, get: false, cache: false },
        Watch: { ...open, repeatable: true },
      },
    },
    { service: ServerReflection, rules: { ServerReflectionInfo: open } },
    { service: ServerReflectionV1alpha, rules: { ServerReflectionInfo: open } },
  ],
  reasons: { tables: [systemReasons], every: Object.values(systemReasons) },
  async serve(context) {
    const { serveSystem } = await import("./serve.ts");
    return serveSystem(context);
  },
});
