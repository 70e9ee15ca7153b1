import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, withConfigFlags, withTargetFlags } from "../cli/config/config-flags.ts";
import type { ExitCode } from "../cli/table/output.ts";
import { parseTimeOption } from "../cli/table/parse-time-option.ts";
import { callerRoles } from "../rpc/caller.ts";
import { addBackupCommands } from "./backup-commands.ts";
import { addClusterCommands } from "./cluster-commands.ts";
import { addHypervisorCommands } from "./hypervisor-commands.ts";
import { addOperationCommands } from "./operation-commands.ts";
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
  addUserCommands(program.command("user").description("manage users and their roles"), context, onExit);
  addTokenCommands(program.command("token").description("manage API tokens"), context, onExit);

  const key = program.command("key").description("manage the keys that sign logins");
  withTargetFlags(key.command("rotate"))
    .description("sign logins with a new key; existing logins stay valid until they expire")
    .action(async (options) => onExit(await (await import("./key.ts")).rotateKey(options, context)));

  const store = program.command("store").description("back up or move users, tokens and the audit log");
  withTargetFlags(store.command("backup"))
    .description("write a consistent copy of the store while the gateway keeps running")
    .argument("<file>", "must not exist")
    .action(async (file, options) =>
      onExit(await (await import("../cli/store/store.ts")).backupStore(file, options, context)),
    );
  withConfigFlags(store.command("copy"))
    .description(
      "copy the SQLite store of a stopped gateway to the empty PostgreSQL database that `store` names",
    )
    .action(async (options) =>
      onExit(await (await import("../cli/store/store.ts")).copyStoreToPostgres(options, context)),
    );

  const audit = program.command("audit").description("read the audit log");
  withTargetFlags(audit.command("export"))
    .description("print the audit log as JSON lines, newest first")
    .option("--from <time>", "at or after this time, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option("--to <time>", "before this time", parseTimeOption)
    .option("--actor <actor>", "only this caller, e.g. user/alice")
    .option("--address <address>", "only this address")
    .option("--rpc <rpc>", "only this method (proto.LVService/RemoveLV), or a whole service")
    .option("--resource <resource>", "only this resource or anything below it")
    .option("--outcome <outcome>", "only this outcome, e.g. PERMISSION_DENIED")
    .action(async (options) => onExit(await (await import("./audit.ts")).exportAudit(options, context)));

  addOperationCommands(
    program.command("operation").description("manage long-running operations"),
    context,
    onExit,
  );

  addBackupCommands(program.command("backup").description("manage backups of volumes"), context, onExit);

  addHypervisorCommands(
    program.command("hypervisor").description("list, create and destroy hypervisors"),
    context,
    onExit,
  );

  addPoolCommands(
    program.command("pool").description("manage the storage pool that hypervisors share"),
    context,
    onExit,
  );

  addPodCommands(
    program.command("pod").description("manage Podman pods and read their logs"),
    context,
    onExit,
  );

  addImageCommands(
    program.command("image").description("list, pull and remove Podman images"),
    context,
    onExit,
  );

  addStorageCommands(
    program.command("storage").description("show and manage a Ceph cluster and its nodes"),
    context,
    onExit,
  );

  addClusterCommands(
    program.command("cluster").description("manage Kubernetes clusters on MAAS machines"),
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
    .description("follow events until interrupted")
    .addOption(
      new Option("--from-cursor <cursor>", "start after the event with this cursor").conflicts("since"),
    )
    .option("--since <time>", "start at this time, e.g. 2026-01-31T00:00:00Z", parseTimeOption)
    .option(
      "--topic <topic>",
      "only this topic (volumes, hypervisors, storage, pods, clusters, operations); repeatable",
      collect,
    )
    .option("--resource <resource>", "only this resource or anything below it; repeatable", collect)
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
    .description("add a user; prompts for the password, or reads it from stdin")
    .argument("<name>", "3 to 24 letters, digits, '-' and '_'")
    .addOption(roleOption())
    .option("--services <names>", "limit the user to these services, separated by commas", parseNames)
    .option(
      "--certificate <name>",
      "let the user log in by a client certificate with this name, without a password; repeatable",
      collect,
    )
    .action(async (name, options) => onExit(await (await commands()).addUser(name, options, context)));
  withTargetFlags(user.command("list"))
    .description("list all users")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listUsers(options, context)));
  withTargetFlags(user.command("remove"))
    .description("remove a user and end all of its logins")
    .argument("<name>")
    .action(async (name, options) => onExit(await (await commands()).removeUser(name, options, context)));
  withTargetFlags(user.command("passwd"))
    .description("change a user's password; prompts for it, or reads it from stdin")
    .argument("<name>")
    .action(async (name, options) =>
      onExit(await (await commands()).changeUserPassword(name, options, context)),
    );
  const role = user.createArgument("<role>").choices(callerRoles);
  withTargetFlags(user.command("role"))
    .description("change a user's role, or limit it to services")
    .argument("<name>")
    .addArgument(role)
    .option("--services <names>", "limit the role to these services, separated by commas", parseNames)
    .addOption(new Option("--all-services", "remove the limit").conflicts("services"))
    .action(async (name, role, options) =>
      onExit(await (await commands()).changeUserRole(name, role, options, context)),
    );
}

function addTokenCommands(token: Command, context: CommandContext, onExit: (code: ExitCode) => void): void {
  const commands = () => import("./token.ts");
  withTargetFlags(token.command("create"))
    .description("create a token and print it once")
    .argument("<name>", "name of the token")
    .addOption(roleOption())
    .option("--services <names>", "limit it to these services, separated by commas", parseNames)
    .option("--days <number>", "lifetime in days (default: unlimited)", parseDays)
    .action(async (name, options) => onExit(await (await commands()).createToken(name, options, context)));
  withTargetFlags(token.command("list"))
    .description("list all tokens, without their secrets")
    .option("--json", "as JSON")
    .action(async (options) => onExit(await (await commands()).listTokens(options, context)));
  withTargetFlags(token.command("revoke"))
    .description("revoke a token, effective immediately")
    .argument("<name>")
    .action(async (name, options) => onExit(await (await commands()).revokeToken(name, options, context)));
}

function roleOption(): Option {
  return new Option("--role <role>", "role of the user or token").choices(callerRoles).makeOptionMandatory();
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
