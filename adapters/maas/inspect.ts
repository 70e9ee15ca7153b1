import { hasReason } from "../host/infra-error.ts";
import type { MaasAdapter, MaasFinding, MaasInspection } from "./adapter.ts";
import { maasReasons } from "./reasons.ts";

type InspectedMaas = Pick<MaasAdapter, "url" | "version" | "whoami" | "images" | "machines">;

const patienceMs = 10_000;

/** Collects the MAAS findings of `hostplane doctor`. Changes nothing. Never throws. */
export async function inspectMaas(maas: InspectedMaas): Promise<MaasInspection> {
  const signal = AbortSignal.timeout(patienceMs);
  let version: string | undefined;
  try {
    version = (await maas.version(signal)).version;
    const { username, isAdmin } = await maas.whoami(signal);
    const rights = isAdmin ? "an administrator, which is not required" : "not an administrator";
    const entered = `MAAS ${version ?? "of unknown version"} at ${maas.url} is accessible as ${username}, ${rights}`;
    const images = await maas.images(signal);
    const machines = await maas.machines({}, signal);
    const ready = machines.filter(({ status }) => status === "ready").length;
    return {
      version,
      findings: [
        { ok: true, what: entered },
        images.length > 0
          ? { ok: true, what: `MAAS has ${images.length} boot resources` }
          : {
              ok: false,
              what: "MAAS has no boot resources, so no machine can be deployed",
              fix: "import images into MAAS, or upload one with maas PROFILE boot-resources create",
            },
        machines.length > 0
          ? { ok: true, what: `MAAS has ${machines.length} machines, of which ${ready} are ready` }
          : {
              ok: false,
              what: "MAAS shows the gateway no machines",
              fix: "add and commission machines in MAAS, or give the account access to their pool",
            },
      ],
    };
  } catch (error) {
    return { version, findings: [unreachable(error)] };
  }
}

function unreachable(error: unknown): MaasFinding {
  const isDenied = hasReason(error, maasReasons.MAAS_DENIED);
  const isLate = error instanceof Error && error.name === "TimeoutError";
  return {
    ok: false,
    what: isLate
      ? `MAAS did not answer within ${patienceMs / 1000} s`
      : error instanceof Error
        ? error.message
        : String(error),
    fix: isDenied
      ? "write an API key of the account to the file in clusters.maas.apiKeyFile; maas apikey --username NAME on the region controller prints one"
      : "check that the region controller is running and that clusters.maas.url names it, e.g. http://maas:5240/MAAS",
  };
}
