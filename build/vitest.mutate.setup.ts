import { configureGlobal } from 'fast-check'

// The first counterexample kills a mutant; shrinking it would take longer than everything else.
configureGlobal({ endOnFailure: true })
