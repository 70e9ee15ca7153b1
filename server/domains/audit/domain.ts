import { AuditService } from "../../../gen/hostplane/v1/audit_pb.ts";
import { defineGatewayDomain } from "../../domain/define-domain.ts";

/** The audit log. */
export const auditDomain = defineGatewayDomain({
  name: "audit",
  services: [{ service: AuditService, role: "admin", rules: { ListEvents: { get: false, cache: false } } }],
  usesStore: true,
  async serve(context) {
    const { createAuditService } = await import("./service.ts");
    return { registrations: [createAuditService(context.store)], planners: [], backends: [] };
  },
});
