import { defineConfig } from 'vitest/config'

const SLOW = ['test/unit/stream/properties/model.test.ts', 'test/unit/stream/limits.test.ts']

/**
 * What mutants of src/stream are tried against: the tests of the domain that are quick, so a mutant takes seconds. What
 * only the slow ones find (the model, documents of the largest size) counts as not found: the score is a lower bound.
 */
export default defineConfig({
  test: {
    include: ['test/unit/stream/**/*.test.ts'],
    exclude: SLOW,
    env: { LEASECTL_RUNS: '40' },
    setupFiles: ['build/vitest.mutate.setup.ts'],
    isolate: false,
    testTimeout: 30_000,
  },
})
