// What every test of the page needs: what one has drawn is gone before the next.
import { cleanup } from '@testing-library/react';
import { afterEach } from 'vitest';

afterEach(cleanup);
