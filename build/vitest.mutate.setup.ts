import { configureGlobal } from 'fast-check'

// A mutant is found out by the first example; making it smaller takes longer than all else.
configureGlobal({ endOnFailure: true })
