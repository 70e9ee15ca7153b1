import { type ClientOptions, createHostplaneClient, type HostplaneClient } from "../../client/client.ts";
import { FleetService } from "../../gen/hostplane/v1/fleet_pb.ts";
import { UserService } from "../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../gen/services/auth/auth_pb.ts";

/** Services that the hub never forwards. */
const ownServices: ReadonlySet<string> = new Set([
  AuthService.typeName,
  UserService.typeName,
  FleetService.typeName,
]);

/** Returns a client of a host of a fleet. Logins, users and the fleet itself remain the hub's. @param options for calls to the host */
export function createHostClient(hub: HostplaneClient, options: ClientOptions): HostplaneClient {
  const host = createHostplaneClient(options);
  const clientFor = ({ typeName }: { readonly typeName: string }) => (ownServices.has(typeName) ? hub : host);
  return {
    ...host,
    auth: hub.auth,
    users: hub.users,
    login: hub.login,
    logout: hub.logout,
    serviceClient: (service) => clientFor(service).serviceClient(service),
    plan: (method, ...rest) => clientFor(method.parent).plan(method, ...rest),
  };
}
