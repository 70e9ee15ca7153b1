import { type Command, Option } from "commander";
import { completeNames, contextNoun, hostNoun } from "../completion/completed-names.ts";

/** Heading of the options that select the gateway. */
const gatewayGroup = "Gateway:";

/** Adds the flags shared by all commands that read the configuration. */
export function withConfigFlags(command: Command): Command {
  return command
    .option("--config <file>", "YAML file (HOSTPLANE_CONFIG)")
    .option("--data <dir>", "data directory of the gateway (HOSTPLANE_DATA)")
    .option("--set <key=value>", "set any other configuration key; repeatable", collect);
}

/**
 * Adds the flags of commands that call a gateway: they select a remote one, or the data directory of one on this host, and there
 * the real gateway or the sandbox.
 */
export function withTargetFlags(command: Command): Command {
  const context = new Option(
    "--context <name>",
    "use this gateway, see `hostplane login`; `local` is this host's (HOSTPLANE_CONTEXT)",
  ).conflicts(["config", "data", "set", "sandbox"]);
  return withConfigFlags(command.optionsGroup(gatewayGroup))
    .option("--sandbox", "use the sandbox of the data directory")
    .addOption(completeNames(context, contextNoun));
}

/** Adds the flags of commands that a hub can make on its hosts. */
export function withHostFlags(command: Command): Command {
  const host = new Option("--host <name>", "send the command to this host of the fleet, through its hub");
  return command
    .addOption(completeNames(host, hostNoun).conflicts("hostLabel"))
    .addOption(
      new Option(
        "--host-label <name=value>",
        "send the command to each host of the fleet with this label; repeatable: hosts with all of the labels",
      )
        .argParser(collect)
        .conflicts("host"),
    );
}

/** Adds the flags of commands that listen, or that inspect what `serve` would use. */
export function withGatewayFlags(command: Command): Command {
  return withConfigFlags(command)
    .option("--listen <address>", "host:port or unix:/path; repeatable (HOSTPLANE_LISTEN)", collect)
    .option("--log-level <level>", "trace, debug, info, warn, error, fatal or silent (HOSTPLANE_LOG_LEVEL)");
}

/** Collects the values of a repeatable option. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}
