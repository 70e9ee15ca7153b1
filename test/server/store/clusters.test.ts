import { test } from "tap";
import { testClusterPassContract } from "./cluster-passes-contract.ts";
import { testClusterSlotContract } from "./cluster-slots-contract.ts";
import { testClusterStrayContract } from "./cluster-strays-contract.ts";
import { testClusterContract } from "./clusters-contract.ts";

const makeOptions = async () => ({});

test("SQLite keeps its promises of what is wanted of clusters", async (t) =>
  testClusterContract(t, makeOptions));

test("SQLite keeps its promises to gateways that look at clusters", async (t) =>
  testClusterPassContract(t, makeOptions));

test("SQLite keeps its promises of the machines of clusters", async (t) =>
  testClusterSlotContract(t, makeOptions));

test("SQLite keeps its promises of machines that no cluster knows", async (t) =>
  testClusterStrayContract(t, makeOptions));
