// npm run bench. Benchmarks with their own report take minutes and are not in run.ts.
const ownReports: Readonly<Record<string, string>> = {
  hostile: "./hostile/run-hostile.ts",
  "many-clients": "./many-clients/run-many-clients.ts",
};
const name = process.argv.find((argument) => argument in ownReports);
await import((name === undefined ? undefined : ownReports[name]) ?? "./run.ts");
