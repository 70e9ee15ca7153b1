import type { FastifyBaseLogger } from "fastify";
import type { DemoWorld } from "../domain/demo-world.ts";
import type { FleetHosts } from "../fleet/forward/fleet-hosts.ts";
import type { OperationsOptions } from "../operations/operations-options.ts";
import type { AppOptions } from "./app.ts";
import type { Config } from "./config/schema.ts";
import type { Data } from "./open-data.ts";
import type { Systems } from "./systems.ts";

/** What a gateway is started with. */
export interface GatewayOptions {
  readonly config: Config;
  readonly isSandbox: boolean;
  /** The demo world of a sandbox; absent: a quiet one. */
  readonly world?: DemoWorld | undefined;
  readonly version: string;
  readonly logger: FastifyBaseLogger;
  /** Secrets from the environment. None is kept in the process longer than needed. */
  readonly secrets: {
    /** HOSTPLANE_KEY */
    readonly key?: string | undefined;
    /** HOSTPLANE_ADMIN_PASSWORD */
    readonly adminPassword?: string | undefined;
  };
  /** Path of the admin socket; absent: `admin.sock` in the data directory. */
  readonly adminSocket?: string;
  /** Set when the gateway runs only for an admin command: it then runs no operations of the store and publishes no events. */
  readonly isForCommand?: boolean;
  /** Services besides those of the contract, such as the conformance suite's. */
  readonly furtherServices?: Pick<AppOptions, "registrations" | "registry" | "maxAnswerBytes"> &
    Required<Pick<AppOptions, "ruleOf">>;
  /** Answer some calls instead of connect-es; absent: those of accelerators.ts. For tests, which also run with none. */
  readonly accelerators?: AppOptions["accelerators"];
  /** For tests: the hosts of the fleet, in place of those that have joined. */
  readonly fleetHosts?: FleetHosts | undefined;
  /** For tests: called at each boundary of an operation's life, and of the steps that change clusters. */
  readonly boundary?: OperationsOptions["boundary"];
  /** Called when the gateway cannot continue and the process must exit. */
  readonly onFatal: (error: Error) => void;
}

/** With the parts that are opened before the rest is loaded. */
export interface OpenGatewayOptions extends GatewayOptions {
  readonly data: Data;
  readonly createSystems: () => Systems | Promise<Systems>;
}
