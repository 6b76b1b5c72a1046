// Vitest set-up: unmounts rendered components after each test.
import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
