import { type Command, InvalidArgumentError, Option } from "commander";
import { callerRoles } from "../rpc/caller.ts";
import { addBackupCommands } from "./backup-commands.ts";
import { addClusterCommands } from "./cluster-commands.ts";
import { collect, withConfigFlags, withTargetFlags } from "./config-flags.ts";
import { addHypervisorCommands } from "./hypervisor-commands.ts";
import { addOperationCommands } from "./operation-commands.ts";
import type { ExitCode } from "./output.ts";
import { parseTimeOption } from "./parse-time-option.ts";
import { addImageCommands, addPodCommands } from "./pod-commands.ts";
import { addPoolCommands } from "./pool-commands.ts";
import type { CommandContext } from "./run-admin-command.ts";
import { addStorageCommands } from "./storage-commands.ts";

/**
 * Adds `user`, `token`, `key`, `store`, `audit`, `operation`, `backup`, `hypervisor`, `pool`, `pod`, `image`, `storage`,
 * `cluster`, `get` and `events`. Each passes its exit code to `onExit`.
 */
export function addAdminCommands(
  program: Command,
  context: CommandContext,
  onExit: (code: ExitCode) => void,
): void {
  addUserCommands(
    program.command("user").description("say who may use the gateway, and as what"),
    context,
    onExit,
  );
  addTokenCommands(
    program.command("token").description("give machines tokens of their own"),
    context,
    onExit,
  );

  const key = program.command("key").description("manage the keys that sign logins");
  withTargetFlags(key.command("rotate"))
    .description("sign logins with a new key; older ones stay good until they expire")
    .action(async (options) => onExit(await (await import("./key.ts")).rotateKey(options, context)));

  const store = program.command("store").description("save or move users, tokens and the audit log");
  withTargetFlags(store.command("backup"))
    .description("write a consistent copy of the store, while the gateway goes on")
    .argument("<file>", "must not exist")
    .action(async (file, options) =>
      onExit(await (await import("./store.ts")).backupStore(file, options, context)),
    );
  withConfigFlags(store.command("copy"))
    .description(
      "copy the SQLite store of a stopped gateway to the empty PostgreSQL database that `store` names",
    )
    .action(async (options) =>
      onExit(await (await import("./store.ts")).copyStoreToPostgres(options, context)),
    );

  const audit = program.command("audit").description("tell who did what");
  withTargetFlags(audit.command("export"))
    .description("print the audit log as JSON lines, newest first")
    .option("--from <time>", "not before this time, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option("--to <time>", "before this time", parseTimeOption)
    .option("--actor <actor>", "exactly this caller, e.g. user/alice")
    .option("--address <address>", "exactly this address")
    .option("--rpc <rpc>", "this method (proto.LVService/RemoveLV) or all of this service")
    .option("--resource <resource>", "this resource, or what is below it")
    .option("--outcome <outcome>", "exactly this outcome, e.g. PERMISSION_DENIED")
    .action(async (options) => onExit(await (await import("./audit.ts")).exportAudit(options, context)));

  addOperationCommands(
    program.command("operation").description("tell of long work, and stop or retry it"),
    context,
    onExit,
  );

  addBackupCommands(
    program.command("backup").description("back up and restore volumes, and tell of their backups"),
    context,
    onExit,
  );

  addHypervisorCommands(
    program.command("hypervisor").description("bring hypervisors up and take them down"),
    context,
    onExit,
  );

  addPoolCommands(
    program
      .command("pool")
      .description("tell of the storage pool that hypervisors share, and change its size"),
    context,
    onExit,
  );

  addPodCommands(
    program.command("pod").description("tell of Podman's pods and what they print, and change them"),
    context,
    onExit,
  );

  addImageCommands(
    program.command("image").description("tell of Podman's images, pull and remove them"),
    context,
    onExit,
  );

  addStorageCommands(
    program.command("storage").description("tell of a Ceph cluster, and of the nodes that carry it"),
    context,
    onExit,
  );

  addClusterCommands(
    program.command("cluster").description("make Kubernetes clusters of machines of MAAS, and tell of them"),
    context,
    onExit,
  );

  withTargetFlags(program.command("get"))
    .description("list resources of all domains: volumes, hypervisors, pods, OSDs, clusters, backups, ...")
    .argument("[type...]", "only these types, e.g. volume pod")
    .option("--search <words>", "only resources in whose name, type, title, state or labels all words occur")
    .option("--state <state>", "only this state, as the table shows it; may be repeated", collect)
    .addOption(
      new Option("--health <health>", "only this health; may be repeated")
        .choices(healthNames)
        .argParser(collectHealth),
    )
    .option("--label <label>", "only with this label: `key` or `key=value`; may be repeated", collect)
    .option(
      "--order <key>",
      "name (default), title, type, state, health or a figure; `desc` reverses: 'size desc'",
    )
    .option("--json", "as JSON")
    .action(async (types, options) =>
      onExit(await (await import("./get.ts")).getResources(types, options, context)),
    );

  withTargetFlags(program.command("events"))
    .description("tell what happens, from now on, until it is stopped")
    .addOption(
      new Option("--from-cursor <cursor>", "begin behind the event that has this cursor").conflicts("since"),
    )
    .option("--since <time>", "begin with this time, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option(
      "--topic <topic>",
      "of this topic (volumes, hypervisors, storage, pods, clusters, operations); repeatable",
      collect,
    )
    .option("--resource <resource>", "about this resource, or what is below it; repeatable", collect)
    .option("--json", "as JSON lines, with cursors")
    .action(async (options) => onExit(await (await import("./events.ts")).followEvents(options, context)));
}

const healthNames: readonly string[] = ["ok", "degraded", "failed", "unknown"];

function collectHealth(name: string, names?: readonly string[]): readonly string[] {
  if (!healthNames.includes(name)) {
    throw new InvalidArgumentError(`Allowed choices are ${healthNames.join(", ")}.`);
  }
  return collect(name, names);
}

function addUserCommands(user: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./user.ts");
  withTargetFlags(user.command("add"))
    .description("make a user; the password is asked for, or read from stdin")
    .argument("<name>", "3 to 24 letters, digits, '-' and '_'")
    .addOption(roleOption())
    .option("--services <names>", "limit the user to these services, separated by commas", parseNames)
    .option(
      "--certificate <name>",
      "let the user come by this name in a certificate, without a password; repeatable",
      collect,
    )
    .action(async (name, options) => onExit(await (await commands()).addUser(name, options, context)));
  withTargetFlags(user.command("list"))
    .description("list all users")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listUsers(options, context)));
  withTargetFlags(user.command("remove"))
    .description("remove a user; every login of theirs ends")
    .argument("<name>")
    .action(async (name, options) => onExit(await (await commands()).removeUser(name, options, context)));
  withTargetFlags(user.command("passwd"))
    .description("give a user another password; it is asked for, or read from stdin")
    .argument("<name>")
    .action(async (name, options) =>
      onExit(await (await commands()).changeUserPassword(name, options, context)),
    );
  const role = user.createArgument("<role>").choices(callerRoles);
  withTargetFlags(user.command("role"))
    .description("give a user another role, or limit it to services")
    .argument("<name>")
    .addArgument(role)
    .option("--services <names>", "limit the role to these services, separated by commas", parseNames)
    .addOption(new Option("--all-services", "lift the limit").conflicts("services"))
    .action(async (name, role, options) =>
      onExit(await (await commands()).changeUserRole(name, role, options, context)),
    );
}

function addTokenCommands(token: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./token.ts");
  withTargetFlags(token.command("create"))
    .description("make a token and print it, this once")
    .argument("<name>", "what it is for")
    .addOption(roleOption())
    .option("--services <names>", "limit it to these services, separated by commas", parseNames)
    .option("--days <number>", "how long it is accepted; for ever if absent", parseDays)
    .action(async (name, options) => onExit(await (await commands()).createToken(name, options, context)));
  withTargetFlags(token.command("list"))
    .description("list all tokens, without the tokens themselves")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listTokens(options, context)));
  withTargetFlags(token.command("revoke"))
    .description("revoke a token at once")
    .argument("<name>")
    .action(async (name, options) => onExit(await (await commands()).revokeToken(name, options, context)));
}

function roleOption(): Option {
  return new Option("--role <role>", "what may be done").choices(callerRoles).makeOptionMandatory();
}

function parseNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("")) {
    throw new InvalidArgumentError("expected names separated by commas");
  }
  return names;
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days <= 3650)) {
    throw new InvalidArgumentError("expected a number of days, at most 3650");
  }
  return days;
}
