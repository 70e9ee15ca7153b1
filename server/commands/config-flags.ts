import type { Command } from "commander";

/** Adds the flags of every command that reads the configuration. */
export function withConfigFlags(command: Command): Command {
  return command
    .option("--config <file>", "YAML file (HOSTPLANE_CONFIG)")
    .option("--data <dir>", "directory of everything the gateway keeps (HOSTPLANE_DATA)")
    .option("--set <key=value>", "any other key of the configuration; repeatable", collect);
}

/** Adds those of commands that ask a gateway: that of a data directory, or the sandbox in it. */
export function withTargetFlags(command: Command): Command {
  return withConfigFlags(command).option("--sandbox", "the sandbox of the data directory");
}

/** Adds those of commands that listen, or look at what would. */
export function withGatewayFlags(command: Command): Command {
  return withConfigFlags(command)
    .option("--listen <address>", "host:port or unix:/path; repeatable (HOSTPLANE_LISTEN)", collect)
    .option("--log-level <level>", "trace, debug, info, warn, error, fatal or silent (HOSTPLANE_LOG_LEVEL)");
}

/** Reads an option that may be given more than once. */
export function collect(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}
