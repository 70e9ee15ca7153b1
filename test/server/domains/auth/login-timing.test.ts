import { test } from "tap";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { isLongForm } from "../../../long-form.ts";
import {
  type AuthUnderTest,
  addUser,
  freshAddress,
  openAuthStore,
  reasonOf,
  startAuth,
} from "./auth-under-test.ts";

const { login } = AuthService.method;
/** A missing hash, or one with other parameters, makes a difference of half or more. The long form finds smaller ones. */
const [samplesOfRound, toleranceShare] = isLongForm ? [40, 0.05] : [5, 0.25];
/** A busy machine needs more samples for the same certainty; a real difference does not shrink with more samples. */
const maxRounds = 6;

const attempts = {
  "a wrong password": { username: "admin", password: "wrong horse" },
  "a wrong user": { username: "nobody", password: "wrong horse" },
  "a user without a password": { username: "probe", password: "wrong horse" },
} as const;

type Kind = keyof typeof attempts;
const kinds = Object.keys(attempts) as Kind[];

/** Returns the CPU time of one attempt, which other processes do not increase as they increase the elapsed time. */
async function cpuMs({ call }: AuthUnderTest, kind: Kind): Promise<number> {
  // A separate address, so that earlier attempts do not delay this one.
  const from = { peer: { address: freshAddress() } };
  const before = process.cpuUsage();
  const reason = await reasonOf(call(login, attempts[kind], from));
  const { user, system } = process.cpuUsage(before);
  if (reason !== "INVALID_CREDENTIALS") {
    throw new Error(`the answer to ${kind} is ${reason}`);
  }
  return (user + system) / 1000;
}

/** Returns the mean of the faster half: other load on the machine only adds time, and sometimes a lot. */
function trimmedMean(values: readonly number[]): number {
  const kept = values.toSorted((a, b) => a - b).slice(0, Math.ceil(values.length / 2));
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

test("a wrong user and a wrong password take the same CPU time", async (t) => {
  const store = await openAuthStore(t);
  await addUser(store, "probe", "viewer", "CN=probe");
  const auth = await startAuth(t, store);
  const durations: Record<Kind, number[]> = {
    "a wrong password": [],
    "a wrong user": [],
    "a user without a password": [],
  };
  let shares: Record<string, number> = {};
  for (let round = 1; round <= maxRounds; round++) {
    // Interleaved, in a changing order, so that load on the machine affects all of them.
    for (let sample = 0; sample < samplesOfRound; sample++) {
      for (let place = 0; place < kinds.length; place++) {
        const kind = kinds[(place + sample) % kinds.length] ?? "a wrong user";
        durations[kind].push(await cpuMs(auth, kind));
      }
    }
    const means = kinds.map((kind) => [kind, trimmedMean(durations[kind])] as const);
    const base = trimmedMean(durations["a wrong password"]);
    shares = Object.fromEntries(means.map(([kind, mean]) => [kind, mean / base - 1]));
    t.comment(`round ${round}: ${means.map(([kind, mean]) => `${kind} ${mean.toFixed(2)} ms`).join(", ")}`);
    if (Object.values(shares).every((share) => Math.abs(share) < toleranceShare)) {
      break;
    }
  }
  for (const [kind, share] of Object.entries(shares)) {
    t.ok(Math.abs(share) < toleranceShare, `${kind}: ${(share * 100).toFixed(2)} %`);
  }
});
