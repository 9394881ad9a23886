const OWN = 'coverage/stryker'
/** What the tests of the domain need is copied, nothing else. */
const COPIED = ['src/**', 'test/{unit/stream,unit/formats,unit/ops,support,guarantees}/**', 'build/vitest.mutate.*.ts']

/** Mutation tests of the domain: `npm run mutate`. test/guarantees/mutation-score.ts reads the report. */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'build/vitest.mutate.config.ts', related: false },
  // TypeScript 7 has no interface to rewrite its settings with, and vitest needs none of them.
  tsconfigFile: 'none',
  mutate: ['src/stream/**/*.ts'],
  coverageAnalysis: 'perTest',
  // Mutants of what runs when a module is loaded need all tests each: three quarters of the time for a sixth of them.
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
