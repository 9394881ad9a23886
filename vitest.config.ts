import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/vitest-azurite-setup.ts', 'test/support/vitest-program-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Several files wait for leases to run out: more of them than cores can run at a time.
    maxWorkers: 3,
    coverage: { include: ['src/stream/**'], reporter: ['text'] },
  },
})
