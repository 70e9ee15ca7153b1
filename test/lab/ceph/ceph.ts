import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";
import { createLabScript, labSkipReason } from "../lab-script.ts";

export interface CephOptions {
  /** Number of disks; default: 1. */
  readonly osds?: number;
  /** Number of managers, of which one is active; default: 1. */
  readonly mgrs?: number;
  /** Number of metadata servers; default: none. With any, there is a filesystem, `cephfs`. */
  readonly mdss?: number;
  /** Default: in memory. bluestore uses files in the temporary directory. */
  readonly store?: "memstore" | "bluestore";
}

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Session extends S3Keys {
  readonly sessionToken: string;
}

/** A cluster used only by the test, on ports of loopback. */
export interface CephCluster {
  /** Configuration of client.admin, which has all permissions. */
  readonly confPath: string;
  /** `http://127.0.0.1:port` */
  readonly s3Url: string;
  /** `https://127.0.0.1:port`, with a self-signed certificate. */
  readonly s3HttpsUrl: string;
  /** The certificate, for 127.0.0.1, localhost, 10.0.2.2 (this host from a virtual machine) and s3.test. */
  readonly certificatePath: string;
  /** Creates a user that may create buckets. */
  createS3User(): Promise<S3Keys>;
  /** Creates a user and temporary keys for it. */
  createS3Session(): Promise<S3Session>;
  /** Kills a daemon, e.g. "rgw.a", and waits until it is gone. */
  stop(daemon: string): Promise<void>;
  start(daemon: string): Promise<void>;
  /** Suspends a daemon until it is resumed. */
  pause(daemon: string): Promise<void>;
  resume(daemon: string): Promise<void>;
  /** Makes a daemon abort, and posts the report of its crash. */
  crash(daemon: string): Promise<void>;
  /** Runs `ceph`, or another Ceph program, as client.admin; returns its stdout. */
  run(program: "ceph" | "rados" | "rbd", ...args: readonly string[]): Promise<string>;
  /** Creates a user with capabilities such as `["mon", "allow r"]`; returns the path of its keyring. */
  makeKey(user: string, capabilities: readonly string[]): Promise<string>;
}

/** Returns why no cluster can be started here, or false. For tap's `skip` option. */
export function cephSkipReason(): string | false {
  const programs = ["ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "radosgw"];
  return labSkipReason(
    programs.map((program) => `/usr/bin/${program}`),
    { needsRoot: true },
  );
}

/**
 * Starts a cluster with ceph.sh that runs until the test or this process ends. Takes 2 s in memory, 7 s with three disks in
 * files. Rejects with the output of ceph.sh if it does not start.
 */
export async function startCeph(t: Test, options: CephOptions = {}): Promise<CephCluster> {
  return makeCeph((destroy) => t.teardown(destroy), options);
}

/** Starts a cluster like `startCeph`; `onEnd` receives the function that destroys it. */
export async function makeCeph(
  onEnd: (destroy: () => Promise<void>) => void,
  { osds = 1, mgrs = 1, mdss = 0, store = "memstore" }: CephOptions = {},
): Promise<CephCluster> {
  const {
    directory,
    run: script,
    destroy,
  } = await createLabScript("ceph", {
    OSDS: String(osds),
    MGRS: String(mgrs),
    MDSS: String(mdss),
    STORE: store,
  });
  onEnd(destroy);
  await script("up");

  const readText = async (file: string) => (await readFile(join(directory, file), "utf8")).trim();
  let createdUsers = 0;
  const nextUser = () => {
    createdUsers += 1;
    return `user${createdUsers}`;
  };
  const confPath = join(directory, "ceph.conf");
  const run = async (program: string, ...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, ["-c", confPath, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  return {
    confPath,
    run,
    async makeKey(user, capabilities) {
      const path = join(directory, "keys", `${user}.made`);
      await run("ceph", "auth", "get-or-create", user, ...capabilities, "-o", path);
      return path;
    },
    pause: async (daemon) => void (await script("pause", daemon)),
    resume: async (daemon) => void (await script("resume", daemon)),
    crash: async (daemon) => void (await script("crash", daemon)),
    s3Url: await readText("s3-url"),
    s3HttpsUrl: await readText("s3-https-url"),
    certificatePath: join(directory, "cert.pem"),
    createS3User: async () => JSON.parse(await script("s3-user", nextUser())),
    createS3Session: async () => JSON.parse(await script("s3-session", nextUser())),
    stop: async (daemon) => void (await script("stop", daemon)),
    start: async (daemon) => void (await script("start", daemon)),
  };
}
