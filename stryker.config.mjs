const OWN = 'coverage/stryker'
/** Copies only what the tests of the domain need. */
const COPIED = ['src/**', 'test/{unit/stream,unit/formats,unit/ops,support,guarantees}/**', 'build/vitest.mutate.*.ts']

/** Mutation tests of the domain: `npm run mutate`. test/guarantees/mutation-score.ts reads the report. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'build/vitest.mutate.config.ts', related: false },
  // TypeScript 7 has no API to rewrite its settings, and vitest does not need them.
  tsconfigFile: 'none',
  mutate: ['src/stream/**/*.ts'],
  coverageAnalysis: 'perTest',
  // Mutants of code that runs on loading a module each need all tests: three quarters of the time for a sixth of the mutants.
  ignoreStatic: true,
  concurrency: 2,
  incremental: true,
  incrementalFile: `${OWN}/incremental.json`,
  tempDirName: `${OWN}/sandboxes`,
  ignorePatterns: ['**', ...COPIED.map(path => `!${path}`), '!package.json'],
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, allowEmojis: false },
  jsonReporter: { fileName: `${OWN}/mutation.json` },
  allowConsoleColors: false,
  timeoutMS: 8_000,
}
