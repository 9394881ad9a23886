import { defineConfig } from 'vitest/config'

/** What mutants of src/stream are tried against: the pure tests of the domain, its properties at a small size. */
export default defineConfig({
  test: {
    include: ['test/stream/**/*.test.ts'],
    // Much of the same, and hours with each mutant.
    exclude: ['test/stream/xml-{differential,corpus,truncated}*.test.ts'],
    env: { LEASECTL_RUNS: '40' },
    testTimeout: 30_000,
  },
})
