import { test } from "tap";
import {
  create,
  makeLvm,
  publishedEvents,
  startObserver,
  untilPublished,
  untilVersion,
} from "../../server/domains/volumes/events/observer-under-test.ts";
import { applyEvent, type Picture } from "../../server/domains/volumes/events/volume-picture.ts";
import { testObservedStateContract } from "../../server/events/store/observed-states-contract.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();

test("PostgreSQL keeps the store's guarantees for published states of systems", { skip }, async (t) => {
  const postgres = await startPostgres(t);
  testObservedStateContract(t, async () => ({ url: await postgres.createDatabase() }));
});

test("gateways that share PostgreSQL publish each change of their host's volumes once", {
  skip,
}, async (t) => {
  const postgres = await startPostgres(t);
  const url = await postgres.createDatabase();
  const lvm = makeLvm(t);
  const stores = await Promise.all([1, 2, 3].map(() => openOwnStore(t, { url })));
  const [store] = stores;
  if (store === undefined) {
    throw new Error("no store");
  }
  const observers = stores.map((each) => startObserver(t, lvm, each));
  await untilVersion(store, 1);
  for (let number = 0; number < 40; number += 1) {
    const by = observers[number % 3]?.lvm ?? lvm;
    await by.run(create(`lv${number}`));
    if (number % 2 === 0) {
      await by.run({ kind: "remove", volumeGroupName: "vg0", name: `lv${number}` });
    }
  }
  await lvm.run(create("last"));
  const events = await untilPublished(store, (reported) =>
    reported.some(({ resource }) => resource.endsWith("/last")),
  );
  await Promise.all(observers.map(({ close }) => close()));
  const later = (await publishedEvents(store)).slice(events.length).filter(({ type }) => type !== "gap");
  t.strictSame(later, []);
  const picture: Picture = new Map();
  for (const event of events) {
    applyEvent(picture, event);
  }
  t.equal(picture.size, 21);
  t.strictSame(
    observers.flatMap(({ failures }) => failures),
    [],
  );
});
