import { defineConfig } from 'vitest/config'

const SLOW = ['test/unit/stream/properties/model.test.ts', 'test/unit/stream/limits.test.ts']

/**
 * Tests for mutants of src/stream: the fast tests of the domain, so that a mutant takes seconds. Mutants that only slow tests
 * find (the model, documents of the largest size) count as survivors: the score is a lower bound.
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
