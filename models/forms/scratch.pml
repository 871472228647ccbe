chan c = [1] of { byte };
init { _ = 3; c!1; c?_; _ = _nr_pr }
