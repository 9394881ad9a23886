import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/vitest-azurite-setup.ts', 'test/support/vitest-program-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    coverage: { include: ['src/stream/**'], reporter: ['text'] },
  },
})
